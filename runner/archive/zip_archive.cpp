#include "runner/archive/zip_archive.h"

#include <fmt/format.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// The limits of one archive. A report shrinks to a hundredth. An archive that unpacks to far more
// than a hundred times its size was made to fill disks.
constexpr std::uint64_t kMostMembers = 1'000'000;
constexpr std::uint64_t kMostTimesPacked = 300;
constexpr std::uint64_t kAnyUnpackedBytes = 1ULL
                                            << 30;  // always allowed, however small the archive is

// The fixed part of an entry in the archive's directory, without its name and other parts of
// variable length.
constexpr std::uint64_t kEntryBytes = 46;
// If an archive has more files than the end of its directory can count, that count may have the
// lowest bits only.
constexpr std::uint64_t kCountWraps = 1 << 16;

constexpr unsigned long kEncrypted = 1;

// minizip returns this size if the real one stands elsewhere, in 64 bits, and minizip does not look
// there, as in Debian 12.
constexpr std::uint64_t kSizeElsewhere = 0xffff'ffff;

struct CloseStream {
  void operator()(std::FILE* stream) const { (void)std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// Returns true if the archive says at its begin that it has no files. Some versions of minizip do
// not recognise it as an archive.
bool IsEmptyArchive(std::FILE* stream) {
  static constexpr std::string_view kEmpty{"PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20};
  std::array<char, kEmpty.size()> begin{};
  const std::size_t count = std::fread(begin.data(), 1, begin.size(), stream);
  return std::string_view(begin.data(), count) == kEmpty;
}

// Makes minizip read the open file, and close it.
unzFile OpenUnpacker(Stream stream) {
  zlib_filefunc64_def calls;
  ::fill_fopen64_filefunc(&calls);
  calls.zopen64_file = [](void* opened, const void*, int) { return opened; };
  calls.opaque = stream.release();
  return ::unzOpen2_64(nullptr, &calls);
}

}  // namespace

Unexpected TooMuchInArchive(const fs::path& path, const std::string& what) {
  return UsageError(
      fmt::format("{}: the archive {}; unpack it, if you trust it, and name the "
                  "directory",
                  PathText(path), what));
}

// `name` may begin with a slash.
fs::path InArchive(const fs::path& archive, const std::string& name) {
  return PathText(archive) + '/' + name;
}

ZipArchive::ZipArchive(fs::path path, std::string ending, void* unpacker)
    : path_(std::move(path)), ending_(std::move(ending)), unpacker_(unpacker, ::unzClose) {}

Expected<std::shared_ptr<ZipArchive>> ZipArchive::Open(const fs::path& path, UniqueFd file,
                                                       std::uint64_t packed_size,
                                                       std::string ending) {
  Stream stream(OpenStdioFile(std::move(file), "rb"));
  const bool is_empty = stream && IsEmptyArchive(stream.get());
  const std::shared_ptr<ZipArchive> archive(
      new ZipArchive(path, std::move(ending), stream ? OpenUnpacker(std::move(stream)) : nullptr));
  if (!archive->unpacker_ && is_empty) return archive;
  if (!archive->unpacker_) return archive->Unreadable("it has no directory at its end");
  LEAKGATE_TRY_ASSIGN(const std::uint64_t count, archive->ReadDirectory());
  // minizip reads what was cut off at its end as zeros.
  if (count == 0 && !is_empty) return archive->Unreadable("it has no directory at its end");
  LEAKGATE_TRY(archive->CheckSizes(packed_size));
  return archive;
}

// Returns how many files there are. It reads entries until there are no more, since the count in
// the directory may have the lowest bits only.
Expected<std::uint64_t> ZipArchive::ReadDirectory() {
  unz_global_info64 facts;
  if (::unzGetGlobalInfo64(unpacker_.get(), &facts) != UNZ_OK) {
    return Unreadable("it has no directory at its end");
  }
  std::uint64_t count = 0;
  bool is_entry = ::unzGoToFirstFile(unpacker_.get()) == UNZ_OK;
  std::uint64_t place = ::unzGetOffset64(unpacker_.get());
  while (is_entry) {
    if (++count > kMostMembers) break;
    LEAKGATE_TRY_ASSIGN(const std::uint64_t next, AddEntry(place));
    place = next;
    is_entry = ::unzSetOffset64(unpacker_.get(), place) == UNZ_OK;
  }
  const std::uint64_t most = std::max<std::uint64_t>(count, facts.number_entry);
  if (most > kMostMembers) {
    return TooMuchInArchive(path_,
                            fmt::format("holds {} files, at most {} are read", most, kMostMembers));
  }
  if (count == facts.number_entry || count % kCountWraps == facts.number_entry) return count;
  return Unreadable(
      fmt::format("its directory has {} files instead of {}", count, facts.number_entry));
}

// Adds the entry at which minizip stands. Returns where the next one would be.
Expected<std::uint64_t> ZipArchive::AddEntry(std::uint64_t place) {
  unz_file_info64 facts;
  std::array<char, kMostNameBytes> bytes;
  if (::unzGetCurrentFileInfo64(unpacker_.get(), &facts, bytes.data(), bytes.size(), nullptr, 0,
                                nullptr, 0) != UNZ_OK) {
    return Unreadable("its directory is damaged");
  }
  if (facts.size_filename > bytes.size()) {
    return TooMuchInArchive(path_,
                            fmt::format("names a file by more than {} bytes", kMostNameBytes));
  }
  const std::string name(bytes.data(), facts.size_filename);
  if (name.find('\0') != std::string::npos) return Unreadable("a file's name has a zero in it");
  if (name.ends_with(ending_)) {
    const Report report{.place = place,
                        .size = facts.uncompressed_size,
                        .method = facts.compression_method,
                        .is_encrypted = (facts.flag & kEncrypted) != 0,
                        .has_known_size = facts.uncompressed_size != kSizeElsewhere &&
                                          facts.compressed_size != kSizeElsewhere};
    const bool is_new = reports_.try_emplace(name, report).second;
    if (!is_new) return TooMuchInArchive(path_, fmt::format("holds two files named {}", name));
  }
  return place + kEntryBytes + facts.size_filename + facts.size_file_extra +
         facts.size_file_comment;
}

Expected<void> ZipArchive::CheckSizes(std::uint64_t packed_size) const {
  std::uint64_t unpacked = 0;
  for (const auto& [name, report] : reports_) {
    if (report.has_known_size) unpacked += std::min(report.size, kMostUnpackedBytes + 1);
  }
  const std::uint64_t most =
      std::clamp(packed_size * kMostTimesPacked, kAnyUnpackedBytes, kMostUnpackedBytes);
  if (unpacked <= most) return {};
  return TooMuchInArchive(
      path_, fmt::format("holds {} MiB of *{} in {} KiB, at most {} MiB are read", unpacked >> 20,
                         ending_, packed_size >> 10, most >> 20));
}

Expected<std::size_t> ZipArchive::Read(const std::string& name, std::uint64_t at, char* to,
                                       std::size_t size) {
  if (begun_ != name || begun_at_ != at) {
    LEAKGATE_TRY(Begin(name));
    LEAKGATE_TRY(Skip(at));
  }
  return ReadOn(to, size);
}

Expected<void> ZipArchive::Begin(const std::string& name) {
  begun_.clear();
  const auto found = reports_.find(name);
  const auto unreadable = [&](const std::string& cause) {
    return UsageError(
        fmt::format("{}: cannot be read: {}; unpack the archive, and name the directory",
                    PathText(InArchive(path_, name)), cause));
  };
  if (found == reports_.end()) return unreadable(std::generic_category().message(ENOENT));
  const Report& report = found->second;
  if (report.is_encrypted) return unreadable("it is encrypted");
  if (report.method != 0 && report.method != Z_DEFLATED) {
    return unreadable(fmt::format("it is packed by method {}, not by deflate", report.method));
  }
  if (!report.has_known_size) return unreadable("its size takes 64 bits");
  begun_ = name;
  begun_at_ = 0;
  if (::unzSetOffset64(unpacker_.get(), report.place) != UNZ_OK ||
      ::unzOpenCurrentFile(unpacker_.get()) != UNZ_OK) {
    return Damaged("it is not what the archive says");
  }
  return {};
}

Expected<void> ZipArchive::Skip(std::uint64_t bytes) {
  std::vector<char> skipped(1 << 16);
  while (begun_at_ < bytes) {
    LEAKGATE_TRY_ASSIGN(
        const std::size_t count,
        ReadOn(skipped.data(), std::min<std::uint64_t>(skipped.size(), bytes - begun_at_)));
    if (count == 0) break;
  }
  return {};
}

Expected<std::size_t> ZipArchive::ReadOn(char* to, std::size_t size) {
  constexpr std::size_t kMostAtOnce = 1 << 30;  // minizip returns an int
  const int count =
      ::unzReadCurrentFile(unpacker_.get(), to, static_cast<unsigned>(std::min(size, kMostAtOnce)));
  if (count < 0) return Damaged("it cannot be unpacked");
  if (count == 0 && size != 0) return End();
  begun_at_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

// minizip compares the checksum as it closes a file that was read to its end.
Expected<std::size_t> ZipArchive::End() {
  if (begun_at_ != reports_.at(begun_).size) return Damaged("it ends too soon");
  if (::unzCloseCurrentFile(unpacker_.get()) != UNZ_OK) return Damaged("its checksum is wrong");
  begun_.clear();
  return 0;
}

Unexpected ZipArchive::Unreadable(const std::string& cause) const {
  return UsageError(fmt::format(
      "{}: no zip archive that can be read: {}; copy it again, or run again what wrote it",
      PathText(path_), cause));
}

// The next report must be begun again.
Unexpected ZipArchive::Damaged(const char* how) const {
  return UsageError(
      fmt::format("{}: damaged in its archive: {}; copy the archive again, or run again "
                  "what wrote it",
                  PathText(InArchive(path_, begun_)), how));
}

}  // namespace leakgate
