// How far the threads of another process have come, by the time that they have had a
// processor.
//
// On a busy machine a thread that is ready to run may wait for its turn longer than anybody
// would wait for it. A stop that comes meanwhile meets it where it was before: looked at
// again and again, it would never come any further. So it is looked at again only once it
// has run, and is given up only once it has run enough to have been seen elsewhere.
//
// One thread's of the runner's.
#pragma once

#include <chrono>
#include <map>

namespace leakgate {

class ThreadProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // From now on, of the threads that there are now.
  explicit ThreadProgress(int pid);

  // Whether a look at `tid` may show anything new.
  [[nodiscard]] bool HasMoved(int tid) const;
  void NoteLook(int tid);

  // Whether it is time to give up: `patience` has passed, and no thread has been waiting for a
  // processor all the time; or so much has passed that nobody would wait on.
  [[nodiscard]] bool IsSpent(std::chrono::milliseconds patience) const;

 private:
  bool HasEachRun() const;

  int pid_;
  Clock::time_point begin_ = Clock::now();
  std::map<int, std::chrono::nanoseconds> at_begin_;
  std::map<int, std::chrono::nanoseconds> at_last_look_;
};

// Ready to run, or running.
[[nodiscard]] bool IsReadyToRun(int pid, int tid);

}  // namespace leakgate
