// Who may wait for the program's stops. While its threads are stopped for a look
// (runner/reachability), what a wait reports is the tracer's business: whoever
// polls for the program's end takes this lock first, or comes back later.
#pragma once

#include <mutex>

namespace leakgate {

// One for the whole process; all threads.
inline std::mutex& WaitLock() {
  static std::mutex lock;
  return lock;
}

}  // namespace leakgate
