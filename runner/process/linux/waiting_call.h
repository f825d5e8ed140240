// What a thread of another process waits for in the kernel, and what a stop by ptrace would do to
// that: some system calls go on as if nothing had happened, others return early, or with EINTR.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leakgate {

// What a stop does to a thread's system call.
enum class StopCost {
  kNone,      // the thread runs, or goes on waiting as if nothing had happened
  kRestarts,  // the call is made again, and waits its full time once more
  kShows,     // the program would see that its call was cut short
};

// A line of /proc/PID/task/TID/syscall: the system call that a thread waits in.
struct WaitingIn {
  std::int64_t call = -1;  // -1 if it is in none
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t sp = 0;
  std::uint64_t pc = 0;  // where the thread goes on; 0 if it runs
};

// What a call that takes a descriptor waits at.
enum class WaitsAt {
  kUnknown,
  kPipe,
  kEvents,        // an eventfd, a timerfd, a signalfd, an inotify
  kTerminal,      // gives a line; where it counts bytes instead, it may give fewer
  kSocket,        // one without a time limit, which gives what it has
  kHastySocket,   // one with a time limit (SO_RCVTIMEO), which begins anew
  kGreedySocket,  // one that waits until it has several bytes (SO_RCVLOWAT), and gives fewer
};

// Returns nothing if the line is malformed. Pure.
[[nodiscard]] std::optional<WaitingIn> ParseWaiting(std::string_view line);
// Returns what a stop does to the call. Pure.
[[nodiscard]] StopCost CostOf(const WaitingIn& waiting, WaitsAt at);
// Returns whether any such call, whatever its arguments, may be cut short by a stop. Pure.
[[nodiscard]] bool MayShow(std::int64_t call);

// Returns the system call that the thread waits in; nothing if the thread has ended, or if the
// kernel does not tell.
[[nodiscard]] std::optional<WaitingIn> ReadWaiting(int pid, int tid);
// Returns what a stop does to the call that the thread waits in. May take the descriptor that it
// waits at for a moment, to ask for a socket's time limit.
[[nodiscard]] StopCost CostOfStop(int pid, int tid, const WaitingIn& waiting);

// Returns whether the thread only sleeps for a time: then it wakes by itself soon, and does not
// notice a stop. Pure.
[[nodiscard]] bool WakesByClock(const WaitingIn& waiting);

// Returns the time limit of an epoll_wait, which is in one of its registers, in milliseconds;
// nothing if the call is another one, or has none. Pure.
[[nodiscard]] std::optional<std::int32_t> EventTimeLimitMs(const WaitingIn& waiting);

}  // namespace leakgate
