#include "runner/util/linux/proc_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <limits>

#include "runner/util/linux/regular_file.h"

namespace leakgate {

tl::expected<std::string, std::error_code> ReadProcFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return tl::unexpected(std::error_code(errno, std::generic_category()));
  return ReadToEnd(file, std::numeric_limits<std::uint64_t>::max());
}

UniqueFd OpenProcFile(int pid, std::string_view name, int access) {
  return UniqueFd(::open(fmt::format("/proc/{}/{}", pid, name).c_str(), access | O_CLOEXEC));
}

}  // namespace leakgate
