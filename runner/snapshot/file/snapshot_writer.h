// Writes a snapshot file in one pass. WriteSnapshot uses it, and tests that need files with a
// certain content. One thread at a time.
#pragma once

#include <filesystem>
#include <optional>

#include "runner/base/atomic_file.h"
#include "runner/snapshot/file/record_writer.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

class SnapshotWriter {
 public:
  // Finish puts the file in its place; only its owner can read it.
  [[nodiscard]] static Expected<SnapshotWriter> Create(const std::filesystem::path& path,
                                                       const SnapshotFacts& facts);
  // Writes to `out`, which must outlive the writer.
  SnapshotWriter(std::ostream& out, const SnapshotFacts& facts);

  // RecordWriter documents what is added, and in which order.
  template <typename Record>
  auto Add(const Record& record) {
    return records_.Add(record);
  }
  [[nodiscard]] RecordWriter& records() { return records_; }

  // Writes the end of the file. Returns `closing` with the counts of the file's content, which the
  // caller leaves empty.
  [[nodiscard]] Expected<SnapshotClosing> Finish(SnapshotClosing closing);

 private:
  std::optional<AtomicFile> file_;
  RecordWriter records_;
};

}  // namespace leakgate
