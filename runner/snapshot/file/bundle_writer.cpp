#include <fmt/chrono.h>
#include <fmt/format.h>
#include <minizip/zip.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <type_traits>
#include <utility>

#include "runner/base/atomic_file.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"

namespace leakgate {
namespace {

// A zip archive without the extension for larger files has 32 bits for a size.
constexpr std::uint64_t kMostMemberBytes = 0xffff'fffe;

tm_zip Now() {
  const std::tm local = fmt::localtime(std::time(nullptr));
  tm_zip date{};
  const auto set = [](auto& to, int value) { to = static_cast<std::decay_t<decltype(to)>>(value); };
  set(date.tm_sec, local.tm_sec);
  set(date.tm_min, local.tm_min);
  set(date.tm_hour, local.tm_hour);
  set(date.tm_mday, local.tm_mday);
  set(date.tm_mon, local.tm_mon);
  set(date.tm_year, local.tm_year + 1900);
  return date;
}

Unexpected NoRoom() {
  return InconclusiveError(
      "cannot collect the bundle in a temporary file; make room, or name another directory with "
      "TMPDIR");
}

}  // namespace

// minizip changes what it has already written, so the archive is first made in a file of its own.
struct BundleWriter::Archive {
  std::FILE* stream = nullptr;
  zipFile packer = nullptr;

  Archive() = default;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() {
    if (packer != nullptr) ::zipClose(packer, nullptr);
    if (stream != nullptr) (void)std::fclose(stream);
  }
};

BundleWriter::BundleWriter(std::unique_ptr<Archive> archive) : archive_(std::move(archive)) {}
BundleWriter::~BundleWriter() = default;
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;

Expected<BundleWriter> BundleWriter::Create() {
  auto archive = std::make_unique<Archive>();
  archive->stream = std::tmpfile();
  if (archive->stream == nullptr) return NoRoom();
  zlib_filefunc64_def calls;
  ::fill_fopen64_filefunc(&calls);
  calls.zopen64_file = [](void* opened, const void*, int) { return opened; };
  calls.zclose_file = [](void*, void*) { return 0; };  // it is read afterwards
  calls.opaque = archive->stream;
  archive->packer = ::zipOpen2_64(nullptr, APPEND_STATUS_CREATE, nullptr, &calls);
  if (archive->packer == nullptr) return NoRoom();
  return BundleWriter(std::move(archive));
}

Expected<void> BundleWriter::Add(const std::string& name, std::string_view bytes, Packing packing) {
  if (bytes.size() > kMostMemberBytes) {
    return UsageError(fmt::format("{}: too large for a bundle; leave it out", name));
  }
  const int method = packing == Packing::kPacked ? Z_DEFLATED : 0;
  zip_fileinfo facts{};
  facts.tmz_date = Now();
  bool is_written =
      ::zipOpenNewFileInZip64(archive_->packer, name.c_str(), &facts, nullptr, 0, nullptr, 0,
                              nullptr, method, Z_DEFAULT_COMPRESSION, 0) == ZIP_OK;
  constexpr std::size_t kMostAtOnce = 1U << 30;  // minizip takes an unsigned
  for (std::size_t at = 0; is_written && at < bytes.size(); at += kMostAtOnce) {
    const std::string_view piece = bytes.substr(at, kMostAtOnce);
    is_written = ::zipWriteInFileInZip(archive_->packer, piece.data(),
                                       static_cast<unsigned>(piece.size())) == ZIP_OK;
  }
  is_written = is_written && ::zipCloseFileInZip(archive_->packer) == ZIP_OK;
  if (is_written) return {};
  return NoRoom();
}

Expected<void> BundleWriter::Finish(const std::filesystem::path& path) {
  const bool is_closed = ::zipClose(std::exchange(archive_->packer, nullptr), nullptr) == ZIP_OK;
  std::FILE* const stream = archive_->stream;
  if (!is_closed || std::fflush(stream) != 0 || std::fseek(stream, 0, SEEK_SET) != 0) {
    return NoRoom();
  }
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path, AtomicFile::Content::kSnapshot));
  std::vector<char> bytes(1U << 20);
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), stream)) {
    file.out().write(bytes.data(), static_cast<std::streamsize>(count));
  }
  if (std::ferror(stream) != 0) return NoRoom();
  return file.Commit();
}

namespace {

using snapshot_format::ByteWriter;
using snapshot_format::PartKind;

// Writes records into parts, each as large as a part may be at most.
template <typename Record>
void WriteRecords(PartKind kind, const std::vector<Record>& records,
                  snapshot_format::PartWriter& parts) {
  ByteWriter part;
  ByteWriter bytes;
  snapshot_format::TextRoom room(snapshot_format::kMostTextInAll / 8);  // for other names, too
  for (const Record& record : records) {
    bytes.Clear();
    Encode(record, bytes);
    // Functions with names of megabytes are shown by module and offset.
    if (bytes.size() > snapshot_format::kMostPlainBytes / 4) continue;
    if (!room.Take(bytes.size())) break;
    part.Text(bytes.bytes());
    if (part.size() < snapshot_format::kMostPlainBytes / 2) continue;
    parts.Write(kind, part.bytes());
    part.Clear();
  }
  if (part.size() != 0) parts.Write(kind, part.bytes());
}

}  // namespace

Expected<std::string> WithSymbols(const std::string& bytes, const std::string& name,
                                  const SymbolsToAdd& symbols) {
  std::istringstream in(bytes);
  std::ostringstream out;
  snapshot_format::PartReader reader(in, name);
  LEAKGATE_TRY(reader.ReadFirstLine());
  snapshot_format::PartWriter writer(out);
  while (true) {
    LEAKGATE_TRY_ASSIGN(const auto part, reader.Next());
    if (!part) return std::move(out).str();
    const auto kind = static_cast<PartKind>(part->kind);
    if (kind == PartKind::kSymbols || kind == PartKind::kSymbolProblems) continue;
    if (kind == PartKind::kClosing) {
      WriteRecords(PartKind::kSymbols, symbols.symbols, writer);
      WriteRecords(PartKind::kSymbolProblems, symbols.problems, writer);
    }
    writer.Write(kind, part->plain);
  }
}

}  // namespace leakgate
