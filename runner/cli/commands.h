// The commands, each with the exit code that it ends with.
#pragma once

#include "runner/cli/options.h"

namespace leakgate {

// Prints to standard output and error. An error is for the caller to print.
[[nodiscard]] Expected<int> Execute(RunCommand command);
[[nodiscard]] Expected<int> Execute(const FrameworkCommand& command);
[[nodiscard]] Expected<int> Execute(const PrintCommand& command);
[[nodiscard]] Expected<int> Execute(const WriteManPagesCommand& command);

}  // namespace leakgate
