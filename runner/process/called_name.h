// The name that a program is shown by: the one that it was called by. A link says what its user
// means (build/net_test, busybox's "ls"), its target often does not (/nix/store/.., "busybox").
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

// Returns the name of `image`, the file that is executed where `called` was to be: `called` itself
// if it leads there. Otherwise `image`, which is then a script's interpreter, or a link was removed
// or changed meanwhile.
[[nodiscard]] std::string CalledName(const std::filesystem::path& called,
                                     const std::filesystem::path& image);

// How a process came to execute its program, as far as it can be known. Texts may be empty, and the
// process may have written anything into them.
struct ProgramCall {
  std::string executed;               // what exec was given; the kernel keeps it in the process
  std::string first_argument;         // by convention the name, and often another
  std::filesystem::path directory{};  // the process's working directory
  std::string search_path{};          // its PATH
};

// Returns the first of these names, as an absolute path, that leads to `image`; `image` if none
// does.
[[nodiscard]] std::string CalledName(const ProgramCall& call, const std::string& image);

// Returns the name of `image`, which `pid` executes with these arguments. Where the kernel does not
// permit to read the name that exec was given (kernel.yama.ptrace_scope), the first one has to
// tell.
[[nodiscard]] std::string CalledNameOf(int pid, const std::string& image,
                                       const std::vector<std::string>& arguments);

}  // namespace leakgate
