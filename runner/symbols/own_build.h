// Tells one build of leakgate from another.
#pragma once

#include <string>

namespace leakgate {

// Returns what the linker has put into this program for that; empty if it has not.
[[nodiscard]] std::string OwnBuild();

}  // namespace leakgate
