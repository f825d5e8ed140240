// Files of /proc, which are the kernel's: they are regular ones that say size 0, and their
// processes may go while they are read, which is an error of reading. (The standard library's
// stream buffers throw then.)
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// REQUIRES: `path` begins with /proc/, and nobody else has named any part of it.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadProcFile(const std::string& path);

// /proc/PID/NAME, which stays open. None: errno says why.
[[nodiscard]] UniqueFd OpenProcFile(int pid, std::string_view name, int access = O_RDONLY);

}  // namespace leakgate
