#include "runner/util/atomic_file.h"

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

#include "runner/util/linux/unnamed_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string Cause(int error_number) { return std::generic_category().message(error_number); }

constexpr std::string_view kDirectRemedy = "make it writable or name another file";
constexpr std::string_view kRemedy =
    "make its directory writable with room for it, or name another file";

// These name what this process has open. Replacing the file behind them would
// cut off whatever else is written there.
bool IsOpenFileName(const fs::path& path) {
  const std::string name = path.lexically_normal().generic_string();
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

bool IsWrittenDirectly(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return IsOpenFileName(path) || (fs::exists(status) && !fs::is_regular_file(status));
}

// A link that somebody else has put where all may write, /tmp above all: the same as the
// kernel's fs.protected_symlinks keeps programs from following when they open a file.
bool IsStrangersLink(const fs::path& path) {
  struct stat link {};
  struct stat directory {};
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (::stat(parent.c_str(), &directory) != 0) return false;
  constexpr mode_t kForAll = S_ISVTX | S_IWOTH;
  return (directory.st_mode & kForAll) == kForAll && link.st_uid != ::geteuid() &&
         link.st_uid != directory.st_uid;
}

std::FILE* AsFile(int fd) {
  if (fd < 0) return nullptr;
  std::FILE* const file = ::fdopen(fd, "wb");
  if (file == nullptr) ::close(fd);
  return file;
}

// From its first moment on nobody may open it whom it is not for.
std::FILE* CreateNew(const fs::path& path, fs::perms permissions) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  return AsFile(::open(path.c_str(), kNew, static_cast<mode_t>(permissions)));
}

fs::perms PermissionsOf(AtomicFile::Content content) {
  constexpr fs::perms kOwner = fs::perms::owner_read | fs::perms::owner_write;
  constexpr fs::perms kOthers = fs::perms::group_read | fs::perms::group_write |
                                fs::perms::others_read | fs::perms::others_write;
  return content == AtomicFile::Content::kSnapshot ? kOwner : kOwner | kOthers;
}

// Short whatever the report's own name, which may be as long as names can be.
fs::path TemporaryBeside(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / fmt::format(".leakgate-{:08x}{:08x}.tmp", random(), random());
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

  // 0, or the number of the first error.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] int descriptor() const { return ::fileno(file_); }

  // Writes what is still buffered.
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

AtomicFile::AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;

Unexpected AtomicFile::CannotWrite(const std::string& cause, std::string_view remedy) const {
  const char* const content = content_ == Content::kReport ? "report" : "snapshot";
  return InconclusiveError(
      fmt::format("cannot write {} {}: {}; {}", content, path_.string(), cause, remedy));
}

Expected<AtomicFile> AtomicFile::Create(const fs::path& path, Content content) {
  AtomicFile file;
  file.content_ = content;
  file.path_ = file.target_ = path;
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return file.CannotWrite("it is a directory", "name a file in it");
  }
  if (IsStrangersLink(path)) {
    return file.CannotWrite("it is another user's link, in a directory that all may write",
                            "write it elsewhere");
  }
  if (!IsWrittenDirectly(path)) {
    const fs::path resolved = fs::weakly_canonical(path, unknown);
    if (!unknown) file.target_ = resolved;
    const fs::path directory = file.target_.parent_path();
    if (!directory.empty() && !fs::is_directory(directory, unknown)) {
      return file.CannotWrite("its directory does not exist", "create it first");
    }
    file.temporary_ = TemporaryBeside(file.target_);
  }
  if (Expected<void> opened = file.Open(); !opened) return Unexpected(opened.error());
  return file;
}

Expected<AtomicFile> AtomicFile::Append(const fs::path& path) {
  AtomicFile file;
  file.path_ = file.target_ = path;
  if (Expected<void> opened = file.Open(); !opened) return Unexpected(opened.error());
  return file;
}

Expected<void> AtomicFile::Open() {
  std::FILE* const file = is_direct() ? std::fopen(path_.c_str(), "abe") : OpenBeside();
  buffer_ = std::make_unique<Buffer>(file);
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(Cause(error), is_direct() ? kDirectRemedy : kRemedy);
  }
  out_ = std::make_unique<std::ostream>(buffer_.get());
  return {};
}

// Without a name where the file system can: a writer that is killed leaves nothing then.
std::FILE* AtomicFile::OpenBeside() {
  const fs::perms permissions = PermissionsOf(content_);
  UniqueFd unnamed = OpenUnnamedFile(target_.parent_path(), permissions);
  is_named_ = !unnamed;
  if (is_named_) partial_ = std::make_unique<PartialFile>(temporary_);
  return is_named_ ? CreateNew(temporary_, permissions) : AsFile(unnamed.Release());
}

AtomicFile::~AtomicFile() {
  if (!is_named_ || temporary_.empty() || !out_) return;  // in its place, or moved from
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

Expected<void> AtomicFile::Commit() {
  buffer_->Flush();
  if (is_named_ || is_direct()) buffer_->Close();
  if (const int error = buffer_->error(); error != 0) {
    return CannotWrite(Cause(error), is_direct() ? kDirectRemedy : kRemedy);
  }
  if (is_direct()) return {};
  const std::error_code failure = Place();
  if (failure) return CannotWrite(failure.message(), kRemedy);
  temporary_.clear();
  partial_.reset();
  return {};
}

// Only what has a name can replace another file.
std::error_code AtomicFile::Place() {
  std::error_code failure;
  if (!is_named_) {
    failure = NameFile(buffer_->descriptor(), target_);
    if (!failure) return failure;
    partial_ = std::make_unique<PartialFile>(temporary_);
    if (failure == std::errc::file_exists) failure = NameFile(buffer_->descriptor(), temporary_);
    is_named_ = true;
    if (failure) {
      failure = CopyToNewFile(buffer_->descriptor(), temporary_, PermissionsOf(content_));
    }
    if (failure) return failure;
  }
  fs::rename(temporary_, target_, failure);
  return failure;
}

Expected<void> WriteFileAtomically(const fs::path& path, std::string_view text) {
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return Unexpected(file.error());
  file->out().write(text.data(), static_cast<std::streamsize>(text.size()));
  return file->Commit();
}

}  // namespace leakgate
