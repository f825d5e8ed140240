#include "runner/attach/linux/thread_stops.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "runner/arch/held_call.h"
#include "runner/arch/registers.h"
#include "runner/process/proc_files.h"
#include "runner/process/ptrace_stops.h"

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

// Returns whether a call has a time limit. A stop ends such a call, and we begin it again.
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

// When a thread goes on, it spends some microseconds in the kernel before it is where it was.
constexpr std::chrono::microseconds kBetweenLooks(40);
// The thread is looked at often in this time.
constexpr std::chrono::milliseconds kEnough(5);
constexpr std::chrono::seconds kMost(15);

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

std::optional<WaitingIn> ReadWaiting(int pid, int tid) {
  const std::string text = ReadTaskFile(pid, tid, "syscall");
  if (text.empty()) return std::nullopt;
  return ParseWaiting(std::string_view(text).substr(0, text.find('\n')));
}

std::vector<int> ThreadsToStop(int pid, StopCost most) {
  std::vector<std::pair<StopCost, int>> threads;
  for (const int tid : ListThreads(pid)) {
    const std::optional<WaitingIn> waiting = ReadWaiting(pid, tid);
    if (waiting && CostOf(*waiting) <= most) threads.emplace_back(CostOf(*waiting), tid);
  }
  std::stable_sort(threads.begin(), threads.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> tids;
  for (const auto& [cost, tid] : threads) tids.push_back(tid);
  return tids;
}

bool IsReadyToRun(int pid, int tid) { return StatusField(pid, tid, "State").starts_with('R'); }

ThreadProgress::ThreadProgress(int pid) : pid_(pid) {
  for (const int tid : ListThreads(pid)) {
    const auto time = TimeOnProcessor(pid, tid);
    if (time) at_begin_.emplace(tid, *time);
  }
}

bool ThreadProgress::HasMoved(int tid) const {
  const auto last = at_last_look_.find(tid);
  if (last == at_last_look_.end() || !IsReadyToRun(pid_, tid)) return true;
  const auto time = TimeOnProcessor(pid_, tid);
  return !time || *time - last->second >= kBetweenLooks;
}

void ThreadProgress::NoteLook(int tid) {
  const auto time = TimeOnProcessor(pid_, tid);
  if (time) at_last_look_[tid] = *time;
}

bool ThreadProgress::HasEachRun() const {
  const std::vector<int> tasks = ListThreads(pid_);
  return std::all_of(tasks.begin(), tasks.end(), [this](int tid) {
    const auto begin = at_begin_.find(tid);
    const auto time = TimeOnProcessor(pid_, tid);
    if (begin == at_begin_.end() || !time || *time - begin->second >= kEnough) return true;
    return !IsReadyToRun(pid_, tid);
  });
}

bool ThreadProgress::IsSpent(std::chrono::milliseconds patience) const {
  const auto passed = Clock::now() - begin_;
  return passed >= kMost || (passed >= patience && HasEachRun());
}

Expected<std::optional<HeldThread>> ThreadStops::Stop(int tid) {
  constexpr std::chrono::milliseconds kInKernel(50);
  constexpr std::chrono::milliseconds kReadyToRun(1000);
  Expected<std::optional<HeldThread>> thread = HeldThread::Take(pid_, tid);
  if (!thread || !*thread) return thread;
  // A thread that only waits for a processor is sure to stop.
  if ((*thread)->AwaitStop(IsReadyToRun(pid_, tid) ? kReadyToRun : kInKernel)) return thread;
  if ((*thread)->tid() != 0) awaited_.push_back(*std::move(*thread));
  return std::nullopt;
}

bool ThreadStops::IsAwaited(int tid) const {
  return std::any_of(awaited_.begin(), awaited_.end(),
                     [tid](const HeldThread& thread) { return thread.tid() == tid; });
}

std::optional<HeldThread> ThreadStops::TakeLate() {
  for (auto it = awaited_.begin(); it != awaited_.end();) {
    const bool has_stopped = it->AwaitStop(std::chrono::milliseconds(0));
    if (!has_stopped && it->tid() != 0) {
      ++it;
      continue;
    }
    HeldThread thread = std::move(*it);
    it = awaited_.erase(it);
    if (has_stopped) return thread;
  }
  return std::nullopt;
}

void ThreadStops::ReleaseLate() {
  while (std::optional<HeldThread> thread = TakeLate()) Continue(*thread);
}

void Continue(HeldThread& thread) {
  auto registers = thread.Registers();
  if (registers && !thread.was_stopped() && RestartInterruptedCall(*registers)) {
    if (thread.SetRegisters(*registers)) BeginCallAgain(thread.tid(), *registers);
  }
  thread.Release();
}

}  // namespace leakgate
