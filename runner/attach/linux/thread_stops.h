// Stops threads of one process, one at a time. Those that are too slow are let go of when they have
// stopped: a thread that stays stopped with a lock would hold up all the others.
//
// Used by one thread of the runner's, which ends afterwards: then the kernel lets go of all
// threads.
#pragma once

#include <optional>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/base/expected.h"

namespace leakgate {

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
