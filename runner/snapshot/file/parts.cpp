#include "runner/snapshot/file/parts.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <new>
#include <stdexcept>
#include <utility>

namespace leakgate::snapshot_format {
namespace {

// Returns the checksum of the header without its last field, and of what is stored after it.
std::uint64_t ChecksumOf(const PartHeader& header, std::string_view stored) {
  const std::uint64_t of_header = XXH3_64bits(&header, kCheckedHeaderBytes);
  return XXH3_64bits_withSeed(stored.data(), stored.size(), of_header);
}

}  // namespace

void PartReader::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

PartReader::PartReader(std::istream& in, std::string name, const FileKind& kind)
    : in_(in), kind_(kind), name_(std::move(name)), context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

bool PartReader::Read(void* to, std::size_t bytes) {
  in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  position_ += static_cast<std::uint64_t>(in_.gcount());
  return static_cast<std::size_t>(in_.gcount()) == bytes;
}

Unexpected PartReader::Broken(std::string_view what) const {
  return UsageError(fmt::format("{}: not a whole {}: {} (part {}, at byte {}); copy it again",
                                name_, kind_.noun, what, parts_read_, part_begin_));
}

Unexpected PartReader::CutOff() {
  was_cut_off_ = !in_.bad();
  if (in_.bad()) return UsageError(fmt::format("{}: cannot be read on; copy it", name_));
  return UsageError(fmt::format("{}: the {} was cut off at byte {}; copy it again", name_,
                                kind_.noun, position_));
}

Expected<void> PartReader::ReadFirstLine() {
  std::string bytes(kind_.first_line.size(), '\0');
  const bool is_whole = Read(bytes.data(), bytes.size());
  const std::string_view line(bytes.data(), static_cast<std::size_t>(position_));
  if (line == kind_.first_line) return {};
  if (!is_whole && kind_.first_line.starts_with(line) && !line.empty()) return CutOff();
  if (line.starts_with(kind_.any_version)) {
    return UsageError(fmt::format(
        "{}: a {} of another version of leakgate; look at it with that one", name_, kind_.noun));
  }
  return UsageError(fmt::format("{}: not a {} of leakgate's; {}", name_, kind_.noun, kind_.remedy));
}

Expected<std::optional<Part>> PartReader::Next() {
  part_begin_ = position_;
  if (in_.peek() == std::istream::traits_type::eof() && !in_.bad()) return std::nullopt;
  PartHeader header{};
  if (!Read(&header, sizeof(header))) return CutOff();
  // The checksum comes later, so the lengths are checked before memory is reserved.
  if (header.plain_bytes > kMostPlainBytes || header.stored_bytes > kMostStoredBytes) {
    return Broken("a length is damaged");
  }
  stored_.resize(header.stored_bytes);
  if (!Read(stored_.data(), stored_.size())) return CutOff();
  if (header.checksum != ChecksumOf(header, stored_)) return Broken("a checksum does not match");
  if (header.number != parts_read_) return Broken("a part is missing, or there twice");
  plain_.resize(header.plain_bytes);
  const std::size_t plain_bytes = ZSTD_decompressDCtx(context_.get(), plain_.data(), plain_.size(),
                                                      stored_.data(), stored_.size());
  if (ZSTD_isError(plain_bytes) != 0 || plain_bytes != plain_.size()) {
    return Broken("the compressed text is damaged");
  }
  ++parts_read_;
  return Part{header.kind, plain_};
}

// Level 1 is enough: the columns are short already, and the process may be waiting.
constexpr int kCompressionLevel = 1;

void PartWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

PartWriter::PartWriter(std::ostream& out, const FileKind& kind)
    : out_(out), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  out_ << kind.first_line;
  position_ = kind.first_line.size();
}

void PartWriter::Write(PartKind kind, std::string_view plain) {
  stored_.resize(ZSTD_compressBound(plain.size()));
  const std::size_t stored_bytes = ZSTD_compressCCtx(context_.get(), stored_.data(), stored_.size(),
                                                     plain.data(), plain.size(), kCompressionLevel);
  // The room is enough for any input, so it can fail only for lack of memory.
  if (ZSTD_isError(stored_bytes) != 0) throw std::bad_alloc();

  PartHeader header{static_cast<std::uint32_t>(kind), number_++,
                    static_cast<std::uint32_t>(plain.size()),
                    static_cast<std::uint32_t>(stored_bytes), 0};
  const std::string_view stored(stored_.data(), stored_bytes);
  header.checksum = ChecksumOf(header, stored);
  out_.write(reinterpret_cast<const char*>(&header), sizeof(header));
  out_.write(stored.data(), static_cast<std::streamsize>(stored.size()));
  position_ += sizeof(header) + stored.size();
}

}  // namespace leakgate::snapshot_format
