#include "runner/attach/linux/thread_stops.h"

#include <algorithm>

#include "runner/arch/held_call.h"
#include "runner/arch/registers.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// A thread that continues spends some microseconds in the kernel before it is where it was.
constexpr std::chrono::microseconds kBetweenLooks(40);
// In this time, the thread is checked often.
constexpr std::chrono::milliseconds kEnough(5);
constexpr std::chrono::seconds kMost(15);

}  // namespace

std::vector<int> ThreadsToStop(int pid, StopCost most) {
  std::vector<std::pair<StopCost, int>> threads;
  for (const int tid : ListThreads(pid)) {
    const std::optional<WaitingIn> waiting = ReadWaiting(pid, tid);
    if (!waiting) continue;
    const StopCost cost = CostOfStop(pid, tid, *waiting);
    if (cost <= most) threads.emplace_back(cost, tid);
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
    if (thread.SetRegisters(*registers)) RestartHeldCall(thread.tid(), *registers);
  }
  thread.Release();
}

}  // namespace leakgate
