// What the kernel tells of another process, and of the file that it executes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// A program that a process executes.
struct ExecutedProgram {
  std::string path;                    // of the file, links resolved
  std::vector<std::string> arguments;  // as executed: its name first
};

// What `pid` executes now.
[[nodiscard]] ExecutedProgram ExecutedProgramOf(int pid);
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

// Returns a descriptor that is readable once `pid` has ended; an empty one if the kernel has none.
[[nodiscard]] UniqueFd WatchEnd(int pid);
[[nodiscard]] bool HasEnded(const UniqueFd& watch);

// Finds the program to run, as a shell would.
// `name` itself if it has a slash, else the first executable of that name in
// PATH. A usage error if there is none, or it cannot be executed.
[[nodiscard]] Expected<std::filesystem::path> FindProgram(const std::string& name);

}  // namespace leakgate
