#include "runner/process/linux/waiting_call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "runner/arch/registers.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/process/proc_files.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

namespace leakgate {
namespace {

// Calls that the kernel restarts by itself, that know how long they have waited
// (include/linux/errno.h: ERESTARTSYS, ERESTARTNOHAND, ERESTART_RESTARTBLOCK), and that have no
// partial effect.
constexpr std::int64_t kCallsThatGoOn[] = {
    SYS_ppoll,       SYS_pselect6,        SYS_nanosleep,     SYS_clock_nanosleep, SYS_futex_waitv,
    SYS_wait4,       SYS_waitid,          SYS_rt_sigsuspend, SYS_flock,           SYS_fcntl,
    SYS_sched_yield, SYS_restart_syscall, SYS_mq_timedsend,  SYS_mq_timedreceive};

bool IsEventWait(std::int64_t call) { return NewerFormOf(call) == SYS_epoll_pwait; }

// Returns whether the call waits for everything that was asked for. When such a call is interrupted
// after it has received something, it returns only that.
bool WantsAll(const WaitingIn& waiting) {
  const std::uint64_t flags = waiting.arguments[waiting.call == SYS_recvmsg ? 2 : 3];
  const bool is_receive = waiting.call == SYS_recvfrom || waiting.call == SYS_recvmsg;
  return is_receive && (flags & MSG_WAITALL) != 0;
}

StopCost CostOfReading(const WaitingIn& waiting, WaitsAt at) {
  if (WantsAll(waiting)) return StopCost::kShows;
  const bool is_read = waiting.call == SYS_read || waiting.call == SYS_readv;
  switch (at) {
    case WaitsAt::kPipe:
    case WaitsAt::kEvents:
      return is_read ? StopCost::kNone : StopCost::kShows;
    case WaitsAt::kTerminal:
      return is_read ? StopCost::kRestarts : StopCost::kShows;
    case WaitsAt::kSocket:
      return StopCost::kNone;
    case WaitsAt::kHastySocket:  // we do not restart such a read
      return is_read ? StopCost::kShows : StopCost::kRestarts;
    case WaitsAt::kUnknown:
    case WaitsAt::kGreedySocket:
      return StopCost::kShows;
  }
  return StopCost::kShows;
}

bool IsReading(std::int64_t call) {
  return call == SYS_read || call == SYS_readv || call == SYS_recvfrom || call == SYS_recvmsg ||
         call == SYS_accept || call == SYS_accept4;
}

// A stop ends these calls with EINTR, and we restart them.
StopCost CostOfEnding(const WaitingIn& waiting) {
  const auto has = [&](std::size_t argument) {
    return waiting.arguments[argument] != 0 ? StopCost::kRestarts : StopCost::kNone;
  };
  switch (NewerFormOf(waiting.call)) {
    case SYS_epoll_pwait:
      return EventTimeLimitMs(waiting) ? StopCost::kRestarts : StopCost::kNone;
    case SYS_rt_sigtimedwait:
      return has(2);
    case SYS_semtimedop:
      return has(3);
    case SYS_io_getevents:
      // The call returns the messages that have come.
      return waiting.arguments[1] > 1 ? StopCost::kShows : has(4);
    case SYS_semop:
    case SYS_msgrcv:
    case SYS_msgsnd:
      return StopCost::kNone;
    default:  // epoll_pwait2
      return has(3);
  }
}

// Asks the kernel about the socket through a second descriptor of it, which is closed at once.
WaitsAt KindOfSocket(int pid, int fd, const std::string& name) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return WaitsAt::kUnknown;
  const UniqueFd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0)));
  struct stat file {};
  if (!socket || ::fstat(socket.get(), &file) != 0) return WaitsAt::kUnknown;
  // A thread may have descriptors of its own.
  if (name != fmt::format("socket:[{}]", file.st_ino)) return WaitsAt::kUnknown;
  timeval limit{};
  int least = 0;
  socklen_t bytes = sizeof(limit);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, &bytes) != 0) {
    return WaitsAt::kUnknown;
  }
  bytes = sizeof(least);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_RCVLOWAT, &least, &bytes) != 0) least = 1;
  if (least > 1) return WaitsAt::kGreedySocket;
  return limit.tv_sec != 0 || limit.tv_usec != 0 ? WaitsAt::kHastySocket : WaitsAt::kSocket;
}

WaitsAt KindOfFile(const std::string& path) {
  const std::optional<struct statx> file = StatKnownOf(path);
  if (!file) return WaitsAt::kUnknown;
  if (S_ISFIFO(file->stx_mode)) return WaitsAt::kPipe;
  // Documentation/admin-guide/devices.txt: terminals, consoles, and pseudo terminals.
  const unsigned device = S_ISCHR(file->stx_mode) ? file->stx_rdev_major : 0;
  const bool is_terminal = device == 4 || device == 5 || (device >= 136 && device <= 143);
  return is_terminal ? WaitsAt::kTerminal : WaitsAt::kUnknown;
}

WaitsAt FindWaitsAt(int pid, int tid, std::uint64_t descriptor) {
  const auto fd = static_cast<int>(descriptor);
  const std::string path = fmt::format("/proc/{}/task/{}/fd/{}", pid, tid, fd);
  const std::string text = ReadLinkOf(path);
  if (text.empty()) return WaitsAt::kUnknown;
  if (text.starts_with("pipe:")) return WaitsAt::kPipe;
  if (text.starts_with("socket:")) return KindOfSocket(pid, fd, text);
  const bool is_events = text == "anon_inode:[eventfd]" || text == "anon_inode:[timerfd]" ||
                         text == "anon_inode:[signalfd]" || text == "anon_inode:inotify";
  return is_events ? WaitsAt::kEvents : KindOfFile(path);
}

}  // namespace

std::optional<WaitingIn> ParseWaiting(std::string_view line) {
  if (line.starts_with("running")) return WaitingIn{};
  WaitingIn waiting;
  std::vector<std::uint64_t> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \n"), line.size());
    std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    if (word == "-1") {
      words.push_back(static_cast<std::uint64_t>(-1));
      continue;
    }
    const bool is_hex = word.starts_with("0x");
    if (is_hex) word.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [stop, error] =
        std::from_chars(word.data(), word.data() + word.size(), value, is_hex ? 16 : 10);
    if (error != std::errc() || stop != word.data() + word.size()) return std::nullopt;
    words.push_back(value);
  }
  if (words.size() != 3 && words.size() != 9) return std::nullopt;  // "-1 sp pc", or with six more
  waiting.call = static_cast<std::int64_t>(words.front());
  waiting.sp = words[words.size() - 2];
  waiting.pc = words.back();
  if (words.size() == 9) std::copy_n(words.begin() + 1, 6, waiting.arguments.begin());
  return waiting;
}

bool WakesByClock(const WaitingIn& waiting) {
  return waiting.call == SYS_nanosleep || waiting.call == SYS_clock_nanosleep ||
         waiting.call == SYS_restart_syscall;
}

std::optional<std::int32_t> EventTimeLimitMs(const WaitingIn& waiting) {
  if (!IsEventWait(waiting.call)) return std::nullopt;
  const auto limit = static_cast<std::int32_t>(waiting.arguments[3]);
  return limit < 0 ? std::nullopt : std::optional(limit);
}

StopCost CostOf(const WaitingIn& waiting, WaitsAt at) {
  if (waiting.call < 0) return StopCost::kNone;
  const std::int64_t call = NewerFormOf(waiting.call);
  if (std::find(std::begin(kCallsThatGoOn), std::end(kCallsThatGoOn), call) !=
      std::end(kCallsThatGoOn)) {
    return StopCost::kNone;
  }
  if (call == SYS_futex) {
    const int operation = static_cast<int>(waiting.arguments[1]) & FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT_REQUEUE_PI ? StopCost::kShows : StopCost::kNone;
  }
  if (IsReading(call)) return CostOfReading(waiting, at);
  if (!IsInterruptedByStops(static_cast<std::uint64_t>(waiting.call))) return StopCost::kShows;
  return CostOfEnding(waiting);
}

bool MayShow(std::int64_t call) {
  WaitingIn waiting;
  waiting.call = call;
  return CostOf(waiting, WaitsAt::kPipe) == StopCost::kShows &&
         CostOf(waiting, WaitsAt::kSocket) == StopCost::kShows;
}

std::optional<WaitingIn> ReadWaiting(int pid, int tid) {
  const std::string text = ReadTaskFile(pid, tid, "syscall");
  if (text.empty()) return std::nullopt;
  return ParseWaiting(std::string_view(text).substr(0, text.find('\n')));
}

StopCost CostOfStop(int pid, int tid, const WaitingIn& waiting) {
  const bool has_descriptor = IsReading(waiting.call) && !WantsAll(waiting);
  return CostOf(waiting,
                has_descriptor ? FindWaitsAt(pid, tid, waiting.arguments[0]) : WaitsAt::kUnknown);
}

}  // namespace leakgate
