// Counts what threads keep copies of: the current window and the modules. A
// thread whose copy is of another epoch takes both anew, off the hot path.
//
// Raised after the change, on any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/visibility.h"

namespace leakgate::agent {

extern LEAKGATE_INTERNAL std::atomic<std::uint64_t> g_epoch;

// Release pairs with the acquire in CurrentEpoch: who sees the new epoch sees
// the change.
inline void RaiseEpoch() { g_epoch.fetch_add(1, std::memory_order_release); }
inline std::uint64_t CurrentEpoch() { return g_epoch.load(std::memory_order_acquire); }

}  // namespace leakgate::agent
