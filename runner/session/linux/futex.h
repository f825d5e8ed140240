// Futexes in shared memory: wait for a word to change, wake who waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace leakgate {

// Returns when `word` is no longer `seen`, on a wake, or when `patience` is over.
void WaitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
               std::chrono::milliseconds patience);

void WakeAll(std::atomic<std::uint32_t>& word);

}  // namespace leakgate
