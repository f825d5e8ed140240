// Here, the program's own code calls the functions that are recorded.
#pragma once

namespace leakgate::agent {

inline constexpr bool kCallersAreAlike = false;

}  // namespace leakgate::agent
