// The runner's signals, blocked and taken one by one, so that the program has
// them as if leakgate were not there: what the terminal sends reaches both by
// itself; what a process sends to the runner alone is passed on.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>

namespace leakgate {

class BlockedSignals {
 public:
  // Blocks them on this thread and on those that it starts. Call before any.
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The mask that the runner was started with, for the program to start with.
  const sigset_t& original() const { return original_; }

  // Takes one signal, or returns after `patience` without any. Passes it on to
  // `pid` where that is due. A change of a child's state only ends the wait.
  void TakeOne(pid_t pid, std::chrono::milliseconds patience) const;

 private:
  sigset_t blocked_;
  sigset_t original_;
};

}  // namespace leakgate
