#include "runner/util/linux/unnamed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace leakgate {
namespace {

// The name by which an unprivileged process may link what it has open.
std::string OpenFileName(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

std::error_code LastErrorCode() { return {errno, std::generic_category()}; }

}  // namespace

UniqueFd OpenUnnamedFile(int directory, mode_t mode) {
  UniqueFd file(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (file && ::access(OpenFileName(file.get()).c_str(), F_OK) != 0) return UniqueFd();
  return file;
}

std::error_code NameFile(int fd, int directory, const std::string& name) {
  const int result =
      ::linkat(AT_FDCWD, OpenFileName(fd).c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW);
  return result == 0 ? std::error_code() : LastErrorCode();
}

UniqueFd CreateNewFile(int directory, const std::string& name, mode_t mode) {
  return UniqueFd(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
}

std::error_code CopyToNewFile(int fd, int directory, const std::string& name) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return LastErrorCode();
  const UniqueFd copy = CreateNewFile(directory, name, facts.st_mode & S_IRWXU);
  if (!copy) return LastErrorCode();
  TakeRightsOf(facts, copy.get());
  char bytes[1 << 16];
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(fd, bytes, sizeof(bytes), at)) != 0;) {
    if (count < 0) return LastErrorCode();
    const ssize_t written = ::write(copy.get(), bytes, static_cast<std::size_t>(count));
    if (written < 0) return LastErrorCode();
    at += written;
  }
  return {};
}

void TakeRightsOf(const struct stat& replaced, int fd) {
  constexpr gid_t kAsItIs = static_cast<gid_t>(-1);
  mode_t mode = replaced.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  const bool has_group = ::fchown(fd, replaced.st_uid, replaced.st_gid) == 0 ||
                         ::fchown(fd, kAsItIs, replaced.st_gid) == 0;
  // Another group gets what all have.
  if (!has_group) mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | ((mode & S_IRWXO) << 3);
  ::fchmod(fd, mode);
}

}  // namespace leakgate
