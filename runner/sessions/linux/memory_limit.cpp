#include "runner/sessions/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>

#include "runner/base/regular_file.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNone = UINT64_MAX;

// The file contains "max", or a number of bytes.
std::uint64_t LimitIn(const fs::path& file) {
  constexpr std::uint64_t kMostText = 64;
  const std::string text = ReadRegularFile(file, kMostText).value_or("");
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && end != text.data() ? bytes : kNone;
}

// Returns the least limit of a group and its parents. In a container the group may be mounted as
// the hierarchy's root, so the root is read in any case.
std::uint64_t LeastOf(const fs::path& root, const fs::path& group, const char* file) {
  std::uint64_t least = LimitIn(root / file);
  fs::path place = root;
  for (const fs::path& part : group.relative_path()) {
    place /= part;
    least = std::min(least, LimitIn(place / file));
  }
  return least;
}

}  // namespace

std::uint64_t GroupMemoryLimit(std::string_view groups, const fs::path& mounts) {
  std::uint64_t least = kNone;
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/path" or "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, LeastOf(mounts, group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, LeastOf(mounts / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t MemoryLimit() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  const auto page = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  const std::string groups = ReadProcFile("/proc/self/cgroup").value_or("");
  return std::min(pages * page, GroupMemoryLimit(groups, "/sys/fs/cgroup"));
}

}  // namespace leakgate
