// Tells without a stop whether a thread of another process has slept all the time, and since when.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace leakgate {

// Returns how often the thread has been given a processor: as long as that stays the same, a thread
// that sleeps goes on sleeping. Nothing if the thread has ended, or if the kernel does not tell.
[[nodiscard]] std::optional<std::uint64_t> RunsOf(int pid, int tid);

// Returns whether the thread sleeps: it neither runs, nor has it been stopped.
[[nodiscard]] bool IsAsleep(int pid, int tid);

// Returns when the thread fell asleep, to some milliseconds, or a later time, where its processor
// has since served interrupts or other virtual machines; nothing if the kernel does not tell, or if
// it has moved the thread to another processor since. The calling thread moves to the thread's
// processor for a moment. REQUIRES: it sleeps.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> SleepsSince(int pid, int tid);

}  // namespace leakgate
