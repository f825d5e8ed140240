// The command line of `leakgate budget` and `leakgate explain`.
#pragma once

#include "runner/cli/options.h"

namespace leakgate {

// True if `arguments` begin with one of the two.
[[nodiscard]] bool IsBudgetCommandLine(const std::vector<std::string>& arguments);

// REQUIRES: so they do.
[[nodiscard]] Expected<Command> ParseBudgetCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
