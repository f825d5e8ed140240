// The lock of waiting for the program. While a tracer has stopped the program's threads to look for
// lost blocks (runner/reach), waitpid would report those stops to any thread. So a thread that
// polls for the program's end takes this lock first, or tries again later.
#pragma once

#include <shared_mutex>

namespace leakgate {

// The one lock of this process, for all threads. Threads that each stop, and wait for, a process of
// their own only may hold it shared.
inline std::shared_mutex& WaitLock() {
  static std::shared_mutex lock;
  return lock;
}

}  // namespace leakgate
