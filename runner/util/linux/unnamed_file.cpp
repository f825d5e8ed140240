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

std::error_code LastError() { return {errno, std::generic_category()}; }

}  // namespace

UniqueFd OpenUnnamedFile(const std::filesystem::path& directory,
                         std::filesystem::perms permissions) {
  const char* const in = directory.empty() ? "." : directory.c_str();
  UniqueFd file(::open(in, O_TMPFILE | O_RDWR | O_CLOEXEC, static_cast<mode_t>(permissions)));
  if (file && ::access(OpenFileName(file.get()).c_str(), F_OK) != 0) return UniqueFd();
  return file;
}

std::error_code NameFile(int fd, const std::filesystem::path& path) {
  const int result =
      ::linkat(AT_FDCWD, OpenFileName(fd).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
  return result == 0 ? std::error_code() : LastError();
}

std::error_code CopyToNewFile(int fd, const std::filesystem::path& path,
                              std::filesystem::perms permissions) {
  const UniqueFd copy(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             static_cast<mode_t>(permissions)));
  if (!copy) return LastError();
  char bytes[1 << 16];
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(fd, bytes, sizeof(bytes), at)) != 0;) {
    if (count < 0) return LastError();
    const ssize_t written = ::write(copy.get(), bytes, static_cast<std::size_t>(count));
    if (written < 0) return LastError();
    at += written;
  }
  return {};
}

}  // namespace leakgate
