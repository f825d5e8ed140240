// Parses leakgate's command line.
#pragma once

#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/definition.h"

namespace leakgate {

// Returns the command that `arguments` ask for. A usage error names the argument and the remedy.
[[nodiscard]] Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
