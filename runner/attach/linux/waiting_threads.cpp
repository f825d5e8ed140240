#include "runner/attach/linux/waiting_threads.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "runner/arch/system_calls.h"
#include "runner/process/interrupted_call.h"
#include "runner/process/proc_files.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace leakgate {
namespace {

// Calls that the kernel begins again by itself, and that know how long they have waited
// (include/linux/errno.h: ERESTARTSYS, ERESTARTNOHAND, ERESTART_RESTARTBLOCK).
constexpr std::int64_t kGoOn[] = {SYS_read,
                                  SYS_pread64,
                                  SYS_readv,
                                  SYS_preadv,
                                  SYS_write,
                                  SYS_pwrite64,
                                  SYS_writev,
                                  SYS_pwritev,
                                  SYS_ppoll,
                                  SYS_pselect6,
                                  SYS_nanosleep,
                                  SYS_clock_nanosleep,
                                  SYS_futex,
                                  SYS_futex_waitv,
                                  SYS_wait4,
                                  SYS_waitid,
                                  SYS_rt_sigsuspend,
                                  SYS_flock,
                                  SYS_fcntl,
                                  SYS_sched_yield,
                                  SYS_mq_timedreceive,
                                  SYS_mq_timedsend,
                                  SYS_sendto,
                                  SYS_sendmsg,
                                  SYS_restart_syscall,
                                  SYS_splice,
                                  SYS_sendfile};

// Whether there is a time limit to a call that ends when it is stopped, and that we begin again.
bool HasTimeLimit(const WaitingIn& waiting) {
  constexpr auto kForEver = static_cast<std::int32_t>(-1);
  switch (NewerFormOf(waiting.call)) {
    case SYS_epoll_pwait:
      return static_cast<std::int32_t>(waiting.arguments[3]) != kForEver;
    case SYS_rt_sigtimedwait:
      return waiting.arguments[2] != 0;
    case SYS_semtimedop:
      return waiting.arguments[3] != 0;
    case SYS_io_getevents:
      return waiting.arguments[4] != 0;
    case SYS_semop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    // A socket's time limit is not known here; most sockets have none.
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return false;
    default:
      return true;
  }
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
  waiting.pc = words.back();
  if (words.size() == 9) std::copy_n(words.begin() + 1, 6, waiting.arguments.begin());
  return waiting;
}

StopCost CostOf(const WaitingIn& waiting) {
  if (waiting.call < 0) return StopCost::kNone;
  if (std::find(std::begin(kGoOn), std::end(kGoOn), NewerFormOf(waiting.call)) != std::end(kGoOn)) {
    return StopCost::kNone;
  }
  if (!IsInterruptedByStops(static_cast<std::uint64_t>(waiting.call))) return StopCost::kShows;
  return HasTimeLimit(waiting) ? StopCost::kBeginsAnew : StopCost::kNone;
}

std::optional<WaitingIn> WhatWaits(int pid, int tid) {
  const std::string text = ReadTaskFile(pid, tid, "syscall");
  if (text.empty()) return std::nullopt;
  return ParseWaiting(std::string_view(text).substr(0, text.find('\n')));
}

std::vector<int> ThreadsToStop(int pid, StopCost most) {
  std::vector<std::pair<StopCost, int>> threads;
  for (const int tid : ListThreads(pid)) {
    const std::optional<WaitingIn> waiting = WhatWaits(pid, tid);
    if (waiting && CostOf(*waiting) <= most) threads.emplace_back(CostOf(*waiting), tid);
  }
  std::stable_sort(threads.begin(), threads.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> tids;
  for (const auto& [cost, tid] : threads) tids.push_back(tid);
  return tids;
}

}  // namespace leakgate
