// The command line of `leakgate merge` and `leakgate history`: commands that read
// results and run nothing.
#pragma once

#include "runner/cli/options.h"

namespace leakgate {

// True if `arguments` begin with one of them.
[[nodiscard]] bool IsResultCommandLine(const std::vector<std::string>& arguments);

// REQUIRES: so they do.
[[nodiscard]] Expected<Command> ParseResultCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
