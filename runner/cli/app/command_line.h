// The command line: arguments in, one of the commands out.
#pragma once

#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/command.h"

namespace leakgate {

// A usage error names the argument and the remedy.
[[nodiscard]] Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
