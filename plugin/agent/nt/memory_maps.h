// The buffer for the path of a module. Paths may have 32,767 characters; a longer one in UTF-8 is
// taken as unknown.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint32_t kMaxPathBytes = 32768;

struct PathBuffer {
  char text[kMaxPathBytes];
};

}  // namespace leakgate::agent
