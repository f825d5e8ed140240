// Waits until the threads of a process have run for a while. What only a running thread knew of at
// one moment, it has stored by then, or dropped.
#pragma once

#include <chrono>
#include <map>

namespace leakgate {

class ThreadsRun {
 public:
  // REQUIRES: the process runs.
  explicit ThreadsRun(int pid);

  // Waits some milliseconds, and until each thread has run, waits for something, or has ended.
  // Gives up after two seconds: a thread may get no processor at all.
  void Wait() const;

 private:
  [[nodiscard]] bool HasRunOrWaits(int tid, std::chrono::nanoseconds before) const;

  int pid_;
  std::map<int, std::chrono::nanoseconds> before_;  // each thread's time on a processor
};

}  // namespace leakgate
