// The index of a baseline: what the judge asks of a report, by window, so that a run reads as much
// of it as its tests need.
//
//   header | entries, sorted by the hash of the window's identity | the windows' texts
//
// The index says which report it was made of: by the state of the file, as the kernel tells it, and
// by a hash of all its bytes. Each part has a hash of its own, which is checked when the part is
// read. An index is only ever read on the machine that wrote it, so numbers are as they are in
// memory. Pure: bytes in, bytes out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runner/base/file_version.h"
#include "runner/judge/baseline.h"

namespace leakgate {

// The report that an index was made of.
struct IndexedReport {
  FileVersion version;
  // Whether the report had been left alone for some time when it was read, so that its version
  // tells any later change. Else only the hash does.
  bool is_settled = false;
  std::array<std::uint64_t, 2> hash = {};  // of all its bytes

  friend bool operator==(const IndexedReport&, const IndexedReport&) = default;
};

// Returns the bytes of an index. Windows that have nothing are left out.
[[nodiscard]] std::string IndexText(const IndexedReport& report, const BaselineWindows& windows);

// Returns the index with another header: the same report has another version. Returns an empty text
// if the bytes are no index.
[[nodiscard]] std::string WithReport(std::string index, const IndexedReport& report);

// Reads exactly `size` bytes at `offset` of an index. Returns false if it cannot.
using ReadIndexAt = std::function<bool(std::uint64_t offset, char* to, std::size_t size)>;

class BaselineIndex {
 public:
  // Returns nullopt if these are not the bytes of an index of this leakgate's, or damaged ones.
  [[nodiscard]] static std::optional<BaselineIndex> Open(ReadIndexAt read);

  [[nodiscard]] const IndexedReport& report() const { return report_; }

  // What the index has of a window; an empty window if it has nothing. Returns nullopt if what was
  // read is damaged.
  [[nodiscard]] std::optional<BaselineWindow> Read(const std::string& identity) const;

 private:
  BaselineIndex(ReadIndexAt read, const IndexedReport& report, std::uint64_t count)
      : read_(std::move(read)), report_(report), count_(count) {}

  ReadIndexAt read_;
  IndexedReport report_;
  std::uint64_t count_;  // of entries
};

}  // namespace leakgate
