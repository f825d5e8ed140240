// Which threads of a process may be stopped without the process noticing, by what they wait in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace leakgate {

// What a stop does to a thread's system call.
enum class StopCost {
  kNone,        // the thread runs, or goes on waiting as if nothing had been
  kBeginsAnew,  // the call is made again, and waits its full time once more
  kShows,       // the program would see that its call was cut short
};

// A line of /proc/PID/task/TID/syscall.
struct WaitingIn {
  std::int64_t call = -1;  // -1 if there is none
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t pc = 0;  // where it goes on; 0 if that is not known, since it runs
};

// Returns nothing if the line cannot be understood. Pure.
[[nodiscard]] std::optional<WaitingIn> ParseWaiting(std::string_view line);
[[nodiscard]] StopCost CostOf(const WaitingIn& waiting);

[[nodiscard]] std::optional<WaitingIn> WhatWaits(int pid, int tid);

// The threads of `pid` that cost at most so much, the cheapest first.
[[nodiscard]] std::vector<int> ThreadsToStop(int pid, StopCost most);

}  // namespace leakgate
