// How much memory this process and what runs beside it may have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace leakgate {

// Returns the least of the limits of the control groups that this process is in, and the machine's
// memory, in bytes. What cannot be read is no limit.
[[nodiscard]] std::uint64_t MemoryLimit();

// The same of groups alone: `groups` is the text of /proc/PID/cgroup, and `mounts` is where the
// hierarchies are (/sys/fs/cgroup). UINT64_MAX if there is no limit.
[[nodiscard]] std::uint64_t GroupMemoryLimit(std::string_view groups,
                                             const std::filesystem::path& mounts);

}  // namespace leakgate
