#include "runner/snapshot_file/linux/file_state.h"

#include <sys/stat.h>

namespace leakgate {

FileState StateOfFile(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
              static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

}  // namespace leakgate
