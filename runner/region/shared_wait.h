// Waits for words in memory that the runner shares with a process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace leakgate {

// Wakes all threads, of whatever process, that wait for `word` to change.
void WakeAll(std::atomic<std::uint32_t>& word);

// Waits until `word` is not `value`, or for `patience`; sometimes shorter.
void AwaitChange(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::milliseconds patience);

}  // namespace leakgate
