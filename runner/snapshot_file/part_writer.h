// Writes the parts of a snapshot file, each compressed and with its checksum. Internal to
// this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "runner/snapshot_file/format.h"

struct ZSTD_CCtx_s;

namespace leakgate::snapshot_format {

class PartWriter {
 public:
  // `out` outlives it, and tells itself of what it could not write.
  explicit PartWriter(std::ostream& out);

  // REQUIRES: at most kMostPlainBytes.
  void Write(PartKind kind, std::string_view plain);

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  std::ostream& out_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  std::string stored_;
  std::uint32_t number_ = 0;
};

}  // namespace leakgate::snapshot_format
