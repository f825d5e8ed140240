// Who may wait for the program's stops. While its threads are stopped for a look
// (runner/reachability), what a wait reports is the tracer's business: whoever
// polls for the program's end takes this lock first, or comes back later.
#pragma once

#include <shared_mutex>

namespace leakgate {

// One for the whole process; all threads. Those who stop processes of their own each, and wait
// for these alone, may share it.
inline std::shared_mutex& WaitLock() {
  static std::shared_mutex lock;
  return lock;
}

}  // namespace leakgate
