// Tells which file another process executes, and with which arguments.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct ExecutedProgram {
  std::string path;                    // the file, with links resolved
  std::vector<std::string> arguments;  // the program's name is first
  std::string name{};  // the name by which it was called: a link to the file, or the file
};

// Returns the program that `pid` executes now. Arguments beyond the first MiB are left out.
[[nodiscard]] ExecutedProgram ExecutedProgramOf(int pid);

// How much is kept and reported of a process's arguments, which may be megabytes.
inline constexpr std::size_t kMostToldBytes = 4096;

// Returns `program` with at most 32 arguments, which have at most `most_bytes` together, and with
// at most `most_bytes` in its path and its name each. "..." stands where something is left out: at
// the end of an argument, as the last argument, and at the begin of a path.
[[nodiscard]] ExecutedProgram Shortened(ExecutedProgram program,
                                        std::size_t most_bytes = kMostToldBytes);
// Returns the file that `pid` executes, with links resolved; empty if the process has ended.
[[nodiscard]] std::string ImageOf(int pid);

// Returns the program that `pid` runs: its image, or if the dynamic linker was started as a
// program, the program that this runs.
[[nodiscard]] std::string ProgramOf(int pid);

// Returns the file that the kernel executes for `path`: links are resolved, and of a script it is
// the interpreter.
[[nodiscard]] std::string ImageBehind(const std::string& path);

// Returns the arguments of `pid`, its name first. Those beyond the first MiB are left out.
[[nodiscard]] std::vector<std::string> ArgumentsOf(int pid);

// Returns a descriptor that becomes readable when `pid` ends; an empty one if there is no such
// process.
[[nodiscard]] UniqueFd WatchEnd(int pid);
// Returns true for an empty descriptor, too.
[[nodiscard]] bool HasEnded(const UniqueFd& watch);
// Returns as soon as the process has ended, or after `patience`.
void AwaitEnd(const UniqueFd& watch, std::chrono::milliseconds patience);

// Finds the program to run, as a shell does: `name` itself if it has a slash, else the first
// executable of that name in PATH. Fails with a usage error if there is none, or if it cannot be
// executed.
[[nodiscard]] Expected<std::filesystem::path> FindProgram(const std::string& name);

}  // namespace leakgate
