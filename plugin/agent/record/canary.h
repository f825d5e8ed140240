// The trial allocation by which the agent sees that it sees the program's.
#pragma once

#include <cstddef>

namespace leakgate::agent {

// Returns whether `canary`, which was just allocated as the program would, is recorded with its
// `bytes`, and no longer once `free_canary` has freed it as the program would. Then the counters
// forget both. REQUIRES: tracing has just begun.
[[nodiscard]] bool IsCanarySeen(void* canary, std::size_t bytes, void (*free_canary)(void*));

}  // namespace leakgate::agent
