// A counter with one writer, by load and store exclusive: Armv8.0 has no instruction that adds to
// memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace leakgate::agent {

// Adds in one step, as far as the thread's own signal handlers can see: the return from a handler
// clears the exclusive monitor (Arm Architecture Reference Manual, B2), so the store fails and the
// addition is repeated. Release: a reader that sees the sum sees what the thread counted before. It
// pairs with the fence in SumOnce (windows/counters.cpp). REQUIRES: no other thread writes the
// counter.
inline void AddAsOwner(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  std::uint64_t sum;
  std::uint32_t has_failed;
  asm volatile(
      "1: ldxr %0, %2\n"
      "   add %0, %0, %3\n"
      "   stlxr %w1, %0, %2\n"
      "   cbnz %w1, 1b"
      : "=&r"(sum), "=&r"(has_failed), "+Q"(counter)
      : "Ir"(amount)
      : "memory");
}

}  // namespace leakgate::agent
