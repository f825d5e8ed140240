#include "runner/util/linux/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace leakgate {
namespace {

constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

bool IsRegular(const UniqueFd& file) {
  struct stat facts {};
  return file && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode);
}

}  // namespace

UniqueFd OpenRegularFile(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return UniqueFd();
  if (!S_ISREG(facts.st_mode)) {
    errno = EINVAL;
    return UniqueFd();
  }
  // It may be another by now.
  return UniqueFd(::open(path.c_str(), kReadOnly));
}

UniqueFd OpenRegularFileIf(const std::string& path,
                           const std::function<bool(const std::string&)>& accepts) {
  // Nothing is done to the file yet, whatever it is.
  const UniqueFd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!found) return UniqueFd();
  const std::string link = fmt::format("/proc/self/fd/{}", found.get());
  std::error_code error;
  const std::string name = std::filesystem::read_symlink(link, error);
  if (!error && IsRegular(found) && accepts(name)) return UniqueFd(::open(link.c_str(), kReadOnly));
  errno = error ? error.value() : EINVAL;
  return UniqueFd();
}

}  // namespace leakgate
