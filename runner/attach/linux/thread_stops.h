// Stops threads of another process, one at a time: which threads can be stopped without the program
// noticing, when it is worth stopping one again, and how to handle those that stop too late.
//
// Used by one thread of the runner, which ends afterwards: then the kernel releases all threads.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/base/expected.h"
#include "runner/process/linux/waiting_call.h"

namespace leakgate {

// Returns the threads of `pid` that cost at most `most`, the cheapest first.
[[nodiscard]] std::vector<int> ThreadsToStop(int pid, StopCost most);

// Returns whether the thread runs, or is ready to run.
[[nodiscard]] bool IsReadyToRun(int pid, int tid);

// Measures how far the threads of another process have come, by the time that they have run.
//
// On a busy machine a thread that is ready to run may wait long for a processor. A stop finds it
// where it was before, and if it were stopped again and again, it would never get further. So it is
// stopped again only after it has run, and is given up only when it has run long enough to have
// been seen elsewhere.
class ThreadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins to measure the threads that exist now.
  explicit ThreadProgress(int pid);

  // Returns whether stopping `tid` again may show anything new.
  [[nodiscard]] bool HasMoved(int tid) const;
  void NoteLook(int tid);

  // Returns whether it is time to give up: `patience` has passed, and no thread has waited for a
  // processor all the time. After 15 seconds it is time in any case.
  [[nodiscard]] bool IsSpent(std::chrono::milliseconds patience) const;

 private:
  bool HasEachRun() const;

  int pid_;
  Clock::time_point begin_ = Clock::now();
  std::map<int, std::chrono::nanoseconds> at_begin_;
  std::map<int, std::chrono::nanoseconds> at_last_look_;
};

// Stops threads of one process. A thread that does not stop in time is released as soon as it has
// stopped: if it stayed stopped while it holds a lock, it would block all the others.
class ThreadStops {
 public:
  explicit ThreadStops(int pid) : pid_(pid) {}

  // Stops `tid`. Returns nothing if the thread has ended, or if it is slow; a slow one is awaited.
  // REQUIRES: the thread is not awaited already.
  [[nodiscard]] Expected<std::optional<HeldThread>> Stop(int tid);

  // Returns whether the thread has been asked to stop, and has not stopped yet.
  [[nodiscard]] bool IsAwaited(int tid) const;
  // Returns one of the awaited threads that has stopped since; nothing if none has.
  [[nodiscard]] std::optional<HeldThread> TakeLate();
  // Lets all awaited threads that have stopped since go on.
  void ReleaseLate();

 private:
  int pid_;
  std::vector<HeldThread> awaited_;
};

// Lets a thread continue that was only examined.
void Continue(HeldThread& thread);

}  // namespace leakgate
