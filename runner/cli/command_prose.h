// What help and manual pages say of each command, besides its options.
#pragma once

#include <vector>

#include "runner/cli/command_page.h"

namespace leakgate {

// In the order in which they are to be shown; leakgate itself first.
[[nodiscard]] const std::vector<CommandProse>& AllProse();

}  // namespace leakgate
