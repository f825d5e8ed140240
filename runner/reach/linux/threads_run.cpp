#include "runner/reach/linux/threads_run.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "runner/process/proc_files.h"
#include "runner/reach/look.h"

namespace leakgate {
namespace {

constexpr std::chrono::milliseconds kShortestWait(5);
constexpr std::chrono::milliseconds kLongestWait(2000);
constexpr std::chrono::microseconds kLeastRun(500);

}  // namespace

ThreadsRun::ThreadsRun(int pid) : pid_(pid) {
  for (const int tid : ListThreads(pid)) {
    if (const auto time = TimeOnProcessor(pid, tid)) before_.emplace(tid, *time);
  }
}

bool ThreadsRun::HasRunOrWaits(int tid, std::chrono::nanoseconds before) const {
  const auto now = TimeOnProcessor(pid_, tid);
  if (!now || *now - before >= kLeastRun) return true;
  return !StatusField(pid_, tid, "State").starts_with('R');
}

void ThreadsRun::Wait() const {
  using std::chrono::steady_clock;
  const steady_clock::time_point end = steady_clock::now() + kLongestWait;
  std::this_thread::sleep_for(kShortestWait);
  std::vector<int> waiting;
  for (const auto& [tid, before] : before_) waiting.push_back(tid);
  for (auto pause = std::chrono::microseconds(200); steady_clock::now() < end;) {
    std::erase_if(waiting, [&](int tid) { return HasRunOrWaits(tid, before_.at(tid)); });
    if (waiting.empty()) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(5000));
  }
}

void LetThreadsRun(int pid) { ThreadsRun(pid).Wait(); }

}  // namespace leakgate
