// Stops threads of one process, one at a time. Those that are too slow to stop are let go of
// when they do: a thread that stays stopped with a lock would hold up all the others.
//
// One thread's of the runner's, which ends afterwards: the kernel then lets go of all.
#pragma once

#include <optional>
#include <vector>

#include "runner/attach/linux/held_thread.h"
#include "runner/base/expected.h"

namespace leakgate {

class ThreadStops {
 public:
  explicit ThreadStops(int pid) : pid_(pid) {}

  // Stops `tid`; nothing if it has gone, or is slow: then it is awaited.
  // REQUIRES: it is not awaited already.
  [[nodiscard]] Expected<std::optional<HeldThread>> Stop(int tid);

  // Asked to stop, and has not yet.
  [[nodiscard]] bool IsAwaited(int tid) const;
  // One of those that has stopped since; none: none has.
  [[nodiscard]] std::optional<HeldThread> TakeLate();
  // All of those go on at once.
  void ReleaseLate();

 private:
  int pid_;
  std::vector<HeldThread> awaited_;
};

// Lets a thread go on that was only looked at.
void Continue(HeldThread& thread);

}  // namespace leakgate
