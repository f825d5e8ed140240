// How far the threads of another process have come, by the time that they have had a processor.
//
// On a busy machine a thread that is ready to run may wait for its turn longer than anybody would
// wait for it. A stop that comes meanwhile meets it where it was before: if it were looked at again
// and again, it would never come any further. So it is looked at again only when it has run, and is
// given up only when it has run enough to have been seen elsewhere.
//
// Used by one thread of the runner's.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/base/expected.h"

namespace leakgate {

class ThreadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins to measure the threads that there are now.
  explicit ThreadProgress(int pid);

  // Whether a look at `tid` may show anything new.
  [[nodiscard]] bool HasMoved(int tid) const;
  void NoteLook(int tid);

  // Whether it is time to give up: `patience` has passed, and no thread has waited for a processor
  // all the time; or so much time has passed that nobody would go on waiting.
  [[nodiscard]] bool IsSpent(std::chrono::milliseconds patience) const;

 private:
  bool HasEachRun() const;

  int pid_;
  Clock::time_point begin_ = Clock::now();
  std::map<int, std::chrono::nanoseconds> at_begin_;
  std::map<int, std::chrono::nanoseconds> at_last_look_;
};

// Whether the thread is ready to run, or runs.
[[nodiscard]] bool IsReadyToRun(int pid, int tid);

// Stops threads of one process, one at a time. Those that are too slow are let go of when they have
// stopped: a thread that stays stopped with a lock would hold up all the others.
//
// Used by one thread of the runner's, which ends afterwards: then the kernel lets go of all
// threads.

class ThreadStops {
 public:
  explicit ThreadStops(int pid) : pid_(pid) {}

  // Stops `tid`. Returns nothing if the thread has gone, or if it is slow; then it is awaited.
  // REQUIRES: it is not awaited already.
  [[nodiscard]] Expected<std::optional<HeldThread>> Stop(int tid);

  // Whether the thread has been asked to stop, and has not yet.
  [[nodiscard]] bool IsAwaited(int tid) const;
  // Returns one of those that have stopped since; nothing if none has.
  [[nodiscard]] std::optional<HeldThread> TakeLate();
  // Lets all of those go on at once.
  void ReleaseLate();

 private:
  int pid_;
  std::vector<HeldThread> awaited_;
};

// Lets a thread go on that was only looked at.
void Continue(HeldThread& thread);

}  // namespace leakgate
