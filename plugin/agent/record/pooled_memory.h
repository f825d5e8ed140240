// What frees memory that pools have divided (pools.h, where this is defined).
#pragma once

#include <cstdint>

#include "plugin/agent/threads/recording.h"

namespace leakgate::agent {

// Frees all blocks of pools in [begin, end), since that memory is freed now.
void FreePooledIn(Recording recording, std::uint64_t begin, std::uint64_t end);

// Returns whether there has been any block of a pool.
[[nodiscard]] bool HasPooled();

}  // namespace leakgate::agent
