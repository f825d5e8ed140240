#include "runner/base/time_limit.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>
#include <thread>

#include "runner/base/expected.h"
#include "runner/base/signal_end.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kToConclude(10);
constexpr std::chrono::seconds kToTheEnd(20);

constexpr Clock::rep kNoLimit = Clock::time_point::max().time_since_epoch().count();
std::atomic<Clock::rep> g_end{kNoLimit};
thread_local bool t_concludes = false;

// The reader of standard error may have stopped reading.
void PrintUnbuffered(std::string_view line) {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1) (void)!::write(STDERR_FILENO, line.data(), line.size());
}

[[noreturn]] void EndProcessAt(Clock::time_point end) {
  std::this_thread::sleep_until(end);
  RemovePartialFiles();
  PrintUnbuffered(
      "leakgate: the timeout was reached, and what had been found could not be reported within 20 "
      "s more: "
      "inconclusive\n");
  ::_exit(static_cast<int>(ExitCode::kInconclusive));
}

}  // namespace

void LimitTime(Clock::time_point end) {
  g_end.store(end.time_since_epoch().count(), std::memory_order_relaxed);
  // The thread must take none of the process's signals.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(EndProcessAt, end + kToTheEnd).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool IsTimeUp() {
  const Clock::rep end = g_end.load(std::memory_order_relaxed);
  return end != kNoLimit && Clock::now().time_since_epoch().count() >= end;
}

void CheckTime() {
  const Clock::rep end = g_end.load(std::memory_order_relaxed);
  if (end == kNoLimit) return;
  const Clock::duration now = Clock::now().time_since_epoch();
  const Clock::duration more = t_concludes ? kToConclude : Clock::duration::zero();
  if (now >= Clock::duration(end) + more) throw TimeIsUp();
}

void TakeTimeToConclude() { t_concludes = true; }

}  // namespace leakgate
