// The variable of an environment by which the agent is preloaded.
#pragma once

#include <cstddef>
#include <cstring>

namespace leakgate::agent {

inline constexpr char kPreload[] = "LD_PRELOAD=";
inline constexpr std::size_t kPreloadLength = sizeof(kPreload) - 1;

inline bool IsPreload(const char* variable) {
  return std::strncmp(variable, kPreload, kPreloadLength) == 0;
}

}  // namespace leakgate::agent
