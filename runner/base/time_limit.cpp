#include "runner/base/time_limit.h"

#include <atomic>
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

[[noreturn]] void EndProcessAt(Clock::time_point end) {
  std::this_thread::sleep_until(end);
  EndProcessSaying(
      "leakgate: the timeout was reached, and what had been found could not be reported within 20 "
      "s "
      "more: inconclusive\n",
      ExitCode::kInconclusive);
}

}  // namespace

void LimitTime(Clock::time_point end) {
  g_end.store(end.time_since_epoch().count(), std::memory_order_relaxed);
  StartThreadWithoutSignals([end] { EndProcessAt(end + kToTheEnd); }).detach();
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
