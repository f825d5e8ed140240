// A counter with one writer.
#pragma once

#include <atomic>
#include <cstdint>

namespace leakgate::agent {

// Relaxed, and whole for a signal's handler on the same thread. REQUIRES: no other thread writes
// the counter.
inline void AddAsOwner(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace leakgate::agent
