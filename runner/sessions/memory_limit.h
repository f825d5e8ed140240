// How much memory this process and the processes beside it may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace leakgate {

// Returns the least of the machine's memory and the limits of the control groups that this process
// is in, in bytes. A limit that cannot be read does not count.
[[nodiscard]] std::uint64_t MemoryLimit();

// Does the same for control groups alone: `groups` is the text of /proc/PID/cgroup, and `mounts` is
// where the hierarchies are mounted (/sys/fs/cgroup). Returns UINT64_MAX if there is no limit.
[[nodiscard]] std::uint64_t GroupMemoryLimit(std::string_view groups,
                                             const std::filesystem::path& mounts);

}  // namespace leakgate
