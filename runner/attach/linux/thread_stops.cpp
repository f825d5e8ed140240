#include "runner/attach/linux/thread_stops.h"

#include <algorithm>

#include "runner/attach/linux/thread_progress.h"
#include "runner/process/interrupted_call.h"

namespace leakgate {

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
    (void)thread.SetRegisters(*registers);
  }
  thread.Release();
}

}  // namespace leakgate
