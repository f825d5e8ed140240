// Reads the parts of a snapshot file one after the other, each checked before it is used,
// into memory that does not grow. Internal to this folder.
//
// The file is not trusted: it may be cut off, changed, or made to harm.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runner/base/expected.h"
#include "runner/snapshot_file/format.h"

struct ZSTD_DCtx_s;

namespace leakgate::snapshot_format {

struct Part {
  std::uint32_t kind = 0;  // PartKind, or one of a later leakgate
  std::string_view plain;  // until the next part is read
};

class PartReader {
 public:
  // `name` stands for the file in errors; `in` outlives this.
  PartReader(std::istream& in, std::string name);

  // REQUIRES: before any part.
  [[nodiscard]] Expected<void> ReadFirstLine();
  // None: the file ends here.
  [[nodiscard]] Expected<std::optional<Part>> Next();

  // "FILE: not a whole snapshot: WHAT (part N, at byte N); REMEDY".
  [[nodiscard]] Unexpected Broken(std::string_view what) const;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  [[nodiscard]] bool Read(void* to, std::size_t bytes);
  [[nodiscard]] Unexpected CutOff() const;

  std::istream& in_;
  std::string name_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::string stored_;
  std::string plain_;
  std::uint32_t parts_read_ = 0;
  std::uint64_t part_begin_ = 0;  // in the file
  std::uint64_t position_ = 0;
};

}  // namespace leakgate::snapshot_format
