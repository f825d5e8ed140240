// What the kernel tells of another process, and of the file that it executes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

// The file that `pid` executes, links resolved; empty if it has gone.
[[nodiscard]] std::string ImageOf(int pid);

// The program that `pid` runs: its image, or where that is the dynamic linker, started as a
// program, what that runs.
[[nodiscard]] std::string ProgramOf(int pid);

// The file that the kernel executes for `path`: links resolved; a script's interpreter.
[[nodiscard]] std::string ImageBehind(const std::string& path);

// What `pid` was executed with, its name first.
[[nodiscard]] std::vector<std::string> ArgumentsOf(int pid);
[[nodiscard]] bool HasArgument(int pid, std::string_view prefix);

// Readable once `pid` has ended; none if the kernel cannot tell.
[[nodiscard]] UniqueFd WatchEnd(int pid);
[[nodiscard]] bool HasEnded(const UniqueFd& watch);

}  // namespace leakgate
