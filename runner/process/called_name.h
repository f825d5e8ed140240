// The name that a program is shown by: the one that it was called by. A link says what its user
// means (build/net_test, busybox's "ls"), its target often does not (/nix/store/.., "busybox").
#pragma once

#include <filesystem>
#include <string>

namespace leakgate {

// Returns the name of `image`, the file that is executed where `called` was to be: `called` itself
// if it leads there. Otherwise `image`, which is then a script's interpreter, or a link was removed
// or changed meanwhile.
[[nodiscard]] std::string CalledName(const std::filesystem::path& called,
                                     const std::filesystem::path& image);

}  // namespace leakgate
