// The name under which a program is shown: the one by which it was called. The name of a link says
// what its user means (build/net_test, busybox's "ls"); the name of its target often does not
// (/nix/store/.., "busybox").
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

// Returns the name of `image`, the file that is executed when `called` is to be executed: `called`
// itself if it leads to that file. Otherwise `called` is a script, whose interpreter is `image`, or
// a link that was removed or changed meanwhile: then `image` is returned.
[[nodiscard]] std::string CalledName(const std::filesystem::path& called,
                                     const std::filesystem::path& image);

// How a process came to execute its program, as far as that can be known. Texts may be empty, and
// the process may have written anything into them.
struct ProgramCall {
  std::string executed;               // what was passed to exec; the kernel keeps it in the process
  std::string first_argument;         // by convention the name, and often another
  std::filesystem::path directory{};  // the process's working directory
  std::string search_path{};          // its PATH
};

// Returns the first of these names, as an absolute path, that leads to `image`; `image` if none
// does.
[[nodiscard]] std::string CalledName(const ProgramCall& call, const std::string& image);

// Returns the name of `image`, which `pid` executes with these arguments. If the kernel does not
// permit reading the name that was passed to exec (kernel.yama.ptrace_scope), the first argument is
// used.
[[nodiscard]] std::string CalledNameOf(int pid, const std::string& image,
                                       const std::vector<std::string>& arguments);

}  // namespace leakgate
