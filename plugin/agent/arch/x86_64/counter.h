// A counter with one writer: one instruction, which is not locked.
#pragma once

#include <atomic>
#include <cstdint>

namespace leakgate::agent {

// Adds in one step, as far as the thread's own signal handlers can see. Release: stores are seen in
// order, and the fences of threads/recording.h order the thread's earlier counting for the
// compiler. It pairs with the fence in SumOnce (windows/counters.cpp). REQUIRES: no other thread
// writes the counter.
inline void AddAsOwner(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  asm("addq %1, %0" : "+m"(counter) : "er"(amount));
}

}  // namespace leakgate::agent
