// Two counters by which a thread finds out whether what it has copied is still true.
//
// The epoch counts changes of the things that threads keep copies of: the current window and the
// modules. A thread whose copies are of another epoch renews them, off the hot path. The span
// counts how often tracing has been enabled: each time it begins in a region of its own, so ids of
// an earlier span mean nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

extern LEAKGATE_INTERNAL std::atomic<std::uint64_t> g_epoch;

// Must be called after the change, on any thread. The release pairs with the acquire in
// CurrentEpoch: a thread that sees the new epoch sees the change.
inline void RaiseEpoch() { g_epoch.fetch_add(1, std::memory_order_release); }
inline std::uint64_t CurrentEpoch() { return g_epoch.load(std::memory_order_acquire); }

// The number of the present span, from 1. Changes only while no thread records, and is read only
// where tracing has been found on, which is an acquire (host/on_switch.h).
extern LEAKGATE_INTERNAL std::uint32_t g_span;

}  // namespace leakgate::agent
