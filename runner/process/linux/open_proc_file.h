// Opens the files in which the kernel describes a process.
#pragma once

#include <fcntl.h>

#include <string_view>

#include "runner/base/descriptors.h"

namespace leakgate {

// Opens /proc/PID/NAME. Returns an empty descriptor on failure; errno tells why.
[[nodiscard]] UniqueFd OpenProcFile(int pid, std::string_view name, int access = O_RDONLY);

}  // namespace leakgate
