#include "runner/util/linux/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace leakgate {

UniqueFd OpenRegularFile(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return UniqueFd();
  if (!S_ISREG(facts.st_mode)) {
    errno = EINVAL;
    return UniqueFd();
  }
  // It may be another by now.
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace leakgate
