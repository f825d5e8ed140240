// Finds out without a stop whether a thread of another process has slept all the time, and since
// when.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace leakgate {

// Returns how often the thread has been given a processor. As long as that number stays the same, a
// sleeping thread has not woken. Returns nothing if the thread has ended, or if the kernel does not
// provide the number.
[[nodiscard]] std::optional<std::uint64_t> RunsOf(int pid, int tid);

// Returns the thread's name if it sleeps: it neither runs, nor has it been stopped.
[[nodiscard]] std::optional<std::string> NameIfAsleep(int pid, int tid);

// Returns when the thread fell asleep, to some milliseconds. The result is too late if its
// processor has since served interrupts or other virtual machines. Returns nothing if the kernel
// does not provide the time, or has moved the thread to another processor since. The calling thread
// moves to the thread's processor for a moment. REQUIRES: the thread sleeps.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> SleepsSince(int pid, int tid);

}  // namespace leakgate
