// A counter with one writer: one instruction, which is not locked.
#pragma once

#include <atomic>
#include <cstdint>

namespace leakgate::agent {

// Relaxed. REQUIRES: no other thread writes the counter.
inline void AddAsOwner(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  asm("addq %1, %0" : "+m"(counter) : "er"(amount));
}

}  // namespace leakgate::agent
