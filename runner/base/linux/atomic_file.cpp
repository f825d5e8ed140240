#include "runner/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>

#include "runner/base/linux/file_place.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirectRemedy = "make it writable or name another file";
constexpr std::string_view kRemedy =
    "make its directory writable with room for it, or name another file";

mode_t NewFileMode(AtomicFile::Content content) {
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  constexpr mode_t kOthers = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  return content == AtomicFile::Content::kReport ? kOwner | kOthers : kOwner;
}

// The name does not contain the report's own, which may already be as long as names can be.
std::string TemporaryName() {
  std::random_device random;
  return fmt::format(".leakgate-{:08x}{:08x}.tmp", random(), random());
}

}  // namespace

class AtomicFile::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::FILE* file) : file_(file) {
    if (file_ == nullptr) error_ = errno;
  }
  ~Buffer() override { Close(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The errno value of the first error; 0: there was none.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] int descriptor() const { return ::fileno(file_); }

  void Flush() {
    if (file_ != nullptr && std::fflush(file_) != 0) Fail();
  }
  void Close() {
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) Fail();
  }

 protected:
  int_type overflow(int_type byte) override {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char one = traits_type::to_char_type(byte);
    return xsputn(&one, 1) == 1 ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (file_ == nullptr || error_ != 0) return 0;
    errno = 0;
    const std::size_t written = std::fwrite(bytes, 1, static_cast<std::size_t>(count), file_);
    if (written != static_cast<std::size_t>(count)) Fail();
    return static_cast<std::streamsize>(written);
  }

 private:
  void Fail() {
    if (error_ == 0) error_ = errno == 0 ? EIO : errno;
  }

  std::FILE* file_;
  int error_ = 0;
};

AtomicFile::AtomicFile() : place_(std::make_unique<FilePlace>()) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;

Unexpected AtomicFile::CannotWrite(const std::string& cause, std::string_view remedy) const {
  const char* const content = content_ == Content::kReport     ? "report"
                              : content_ == Content::kSnapshot ? "snapshot"
                                                               : "recording";
  return InconclusiveError(
      fmt::format("cannot write {} {}: {}; {}", content, path_.string(), cause, remedy));
}

Expected<AtomicFile> AtomicFile::Locate(const fs::path& path, Content content) {
  AtomicFile file;
  file.content_ = content;
  file.path_ = path;
  tl::expected<FilePlace, PlaceProblem> place = FilePlace::Find(path);
  if (!place) return file.CannotWrite(place.error().cause, place.error().remedy);
  *file.place_ = *std::move(place);
  return file;
}

Expected<AtomicFile> AtomicFile::Create(const fs::path& path, Content content) {
  Expected<AtomicFile> file = Locate(path, content);
  if (!file) return file;
  if (!file->place_->IsWrittenDirectly()) file->temporary_ = TemporaryName();
  LEAKGATE_TRY(file->Open());
  return file;
}

Expected<AtomicFile> AtomicFile::CreateIn(const UniqueFd& directory, const std::string& name) {
  AtomicFile file;
  file.content_ = Content::kSnapshot;
  file.path_ = name;
  *file.place_ = FilePlace::In(UniqueFd(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0)), name);
  file.temporary_ = TemporaryName();
  LEAKGATE_TRY(file.Open());
  return file;
}

Expected<AtomicFile> AtomicFile::Append(const fs::path& path) {
  Expected<AtomicFile> file = Locate(path, Content::kReport);
  if (!file) return file;
  LEAKGATE_TRY(file->Open());
  return file;
}

Expected<AtomicFile> AtomicFile::LocateGrowing(const fs::path& path, Existing existing) {
  Expected<AtomicFile> file = Locate(path, Content::kRecording);
  if (!file) return UsageError(file.error().message);
  if (!file->place_->occupant()) return file;
  const bool is_regular = S_ISREG(file->place_->occupant()->st_mode);
  if (existing == Existing::kReplaced && is_regular) return file;
  return UsageError(fmt::format("{}: is there already; name another file{}", path.string(),
                                is_regular ? ", or replace it with --force" : ""));
}

Expected<void> AtomicFile::CheckGrowing(const fs::path& path, Existing existing) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, LocateGrowing(path, existing));
  file.temporary_ = TemporaryName();
  return file.Open();
}

Expected<AtomicFile> AtomicFile::CreateGrowing(const fs::path& path, Existing existing) {
  Expected<AtomicFile> file = LocateGrowing(path, existing);
  if (!file) return file;
  const FilePlace& place = *file->place_;
  if (place.occupant()) ::unlinkat(place.directory(), place.name().c_str(), 0);
  UniqueFd created = CreateNewFile(place.directory(), place.name(), NewFileMode(file->content_));
  if (!created) return file->CannotWrite(ErrnoText(), kRemedy);
  file->buffer_ = std::make_unique<Buffer>(OpenStdioFile(std::move(created), "wb"));
  if (const int error = file->buffer_->error(); error != 0) {
    return file->CannotWrite(ErrnoText(error), kRemedy);
  }
  file->out_ = std::make_unique<std::ostream>(file->buffer_.get());
  return file;
}

Expected<void> AtomicFile::Flush() {
  buffer_->Flush();
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), kRemedy);
  }
  return {};
}

Expected<void> AtomicFile::CheckPlace(const fs::path& path) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, Locate(path, Content::kReport));
  if (file.place_->IsWrittenDirectly()) return {};
  file.temporary_ = TemporaryName();
  return file.Open();
}

Expected<void> AtomicFile::Open() {
  tl::expected<UniqueFd, PlaceProblem> opened =
      is_direct() ? place_->OpenToAppend(NewFileMode(content_)) : OpenTemporary();
  if (!opened) return CannotWrite(opened.error().cause, opened.error().remedy);
  buffer_ = std::make_unique<Buffer>(OpenStdioFile(*std::move(opened), is_direct() ? "ab" : "wb"));
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), is_direct() ? kDirectRemedy : kRemedy);
  }
  out_ = std::make_unique<std::ostream>(buffer_.get());
  return {};
}

// From now on, a signal that ends this process also removes `temporary_`.
void AtomicFile::RegisterTemporary() {
  partial_ = std::make_unique<PartialFile>(place_->directory(), temporary_);
}

// The file has no name where the file system supports that: if the writer is killed, the kernel
// then removes it. Returns an empty descriptor on failure; errno tells why.
UniqueFd AtomicFile::OpenTemporary() {
  const mode_t mode = NewFileMode(content_);
  UniqueFd file = OpenUnnamedFile(place_->directory(), mode);
  is_named_ = !file;
  if (is_named_) {
    RegisterTemporary();
    file = CreateNewFile(place_->directory(), temporary_, mode);
  }
  // Only the user may read a snapshot, whatever file it replaces.
  const bool keeps_rights = file && place_->occupant() && content_ == Content::kReport;
  if (keeps_rights) CopyRights(*place_->occupant(), file.get());
  return file;
}

AtomicFile::~AtomicFile() {
  if (!is_named_ || temporary_.empty() || !out_) return;  // committed, or moved from
  ::unlinkat(place_->directory(), temporary_.c_str(), 0);
}

Expected<void> AtomicFile::Commit() {
  buffer_->Flush();
  if (is_named_ || is_direct()) buffer_->Close();
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(ErrnoText(error), is_direct() ? kDirectRemedy : kRemedy);
  }
  if (is_direct()) return {};
  const std::error_code failure = MoveIntoPlace();
  if (failure) return CannotWrite(failure.message(), kRemedy);
  temporary_.clear();
  partial_.reset();
  return {};
}

// A file without a name cannot replace another one. If the target exists, the file first gets
// its temporary name, and is then renamed.
std::error_code AtomicFile::MoveIntoPlace() {
  const int directory = place_->directory();
  std::error_code failure;
  if (!is_named_) {
    failure = LinkUnnamedFile(buffer_->descriptor(), directory, place_->name());
    if (!failure) return failure;
    RegisterTemporary();
    if (failure == std::errc::file_exists) {
      failure = LinkUnnamedFile(buffer_->descriptor(), directory, temporary_);
    }
    is_named_ = true;
    if (failure) failure = CopyToNewFile(buffer_->descriptor(), directory, temporary_);
    if (failure) return failure;
  }
  const int renamed = ::renameat(directory, temporary_.c_str(), directory, place_->name().c_str());
  return renamed == 0 ? failure : LastErrorCode();
}

Expected<void> WriteFileAtomically(const fs::path& path, std::string_view text) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  file.out().write(text.data(), static_cast<std::streamsize>(text.size()));
  return file.Commit();
}

void RemoveWrittenFile(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
}

}  // namespace leakgate
