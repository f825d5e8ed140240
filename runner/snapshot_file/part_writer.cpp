#include "runner/snapshot_file/part_writer.h"

#include <zstd.h>

#include <new>
#include <stdexcept>

#include "runner/snapshot_file/part_checksum.h"

namespace leakgate::snapshot_format {

// Level 1: the columns are short already, and the process may be waiting.
constexpr int kCompressionLevel = 1;

void PartWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

PartWriter::PartWriter(std::ostream& out) : out_(out), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  out_ << kFirstLine;
}

void PartWriter::Write(PartKind kind, std::string_view plain) {
  stored_.resize(ZSTD_compressBound(plain.size()));
  const std::size_t stored_bytes = ZSTD_compressCCtx(context_.get(), stored_.data(), stored_.size(),
                                                     plain.data(), plain.size(), kCompressionLevel);
  // The room is enough for any input: only memory can be missing.
  if (ZSTD_isError(stored_bytes) != 0) throw std::bad_alloc();

  PartHeader header{static_cast<std::uint32_t>(kind), number_++,
                    static_cast<std::uint32_t>(plain.size()),
                    static_cast<std::uint32_t>(stored_bytes), 0};
  const std::string_view stored(stored_.data(), stored_bytes);
  header.checksum = ChecksumOf(header, stored);
  out_.write(reinterpret_cast<const char*>(&header), sizeof(header));
  out_.write(stored.data(), static_cast<std::streamsize>(stored.size()));
}

}  // namespace leakgate::snapshot_format
