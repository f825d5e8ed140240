// What a thread of another process waits for in the kernel, and how a stop by ptrace would affect
// that: some system calls continue as if nothing had happened, others return early, or with EINTR.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leakgate {

// How a stop affects a thread's system call.
enum class StopCost {
  kNone,      // the thread runs, or continues to wait as if nothing had happened
  kRestarts,  // the call is restarted, and waits its full time once more
  kShows,     // the program would see that its call was cut short
};

// A line of /proc/PID/task/TID/syscall: the system call in which a thread waits.
struct WaitingIn {
  std::int64_t call = -1;  // -1 if it is in none
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t sp = 0;
  std::uint64_t pc = 0;  // the address at which the thread continues; 0 if it runs
};

// What kind of descriptor a call waits for.
enum class WaitsAt {
  kUnknown,
  kPipe,
  kEvents,       // an eventfd, a timerfd, a signalfd, an inotify
  kTerminal,     // returns a line; where it counts bytes instead, it may return fewer
  kSocket,       // a socket without a time limit, which returns what it has
  kHastySocket,  // a socket with a time limit (SO_RCVTIMEO), which would start again
  // A socket that waits until it has several bytes (SO_RCVLOWAT), and might return fewer.
  kGreedySocket,
};

// Returns nothing if the line is malformed. Pure.
[[nodiscard]] std::optional<WaitingIn> ParseWaiting(std::string_view line);
// Returns how a stop affects the call. Pure.
[[nodiscard]] StopCost CostOf(const WaitingIn& waiting, WaitsAt at);
// Returns whether a stop may cut such a call short for some arguments. Pure.
[[nodiscard]] bool MayShow(std::int64_t call);

// Returns the system call in which the thread waits; nothing if the thread has ended, or if the
// kernel does not say.
[[nodiscard]] std::optional<WaitingIn> ReadWaiting(int pid, int tid);
// Returns how a stop affects the call in which the thread waits. May duplicate the descriptor for
// which it waits for a moment, to ask for a socket's time limit.
[[nodiscard]] StopCost CostOfStop(int pid, int tid, const WaitingIn& waiting);

// Returns whether the thread only sleeps for a time: then it soon wakes by itself, and does not
// notice a stop. Pure.
[[nodiscard]] bool WakesByClock(const WaitingIn& waiting);

// Returns the time limit of an epoll_wait, which is in one of its registers, in milliseconds;
// nothing if the call is another one, or has none. Pure.
[[nodiscard]] std::optional<std::int32_t> EventTimeLimitMs(const WaitingIn& waiting);

}  // namespace leakgate
