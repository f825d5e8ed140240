// The prose of the pages of commands that do something else on Windows (help_formats.h).
#pragma once

#include <vector>

#include "runner/cli/help/help_formats.h"

namespace leakgate {

[[nodiscard]] const std::vector<CommandProse>& HeapTracingProse();

}  // namespace leakgate
