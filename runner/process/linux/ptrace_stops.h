// Hides stops by ptrace: from the program, by restarting the system calls that a stop has
// interrupted, and from other threads of the runner, by a lock.
#pragma once

#include <cstdint>
#include <shared_mutex>

#include "runner/arch/registers.h"

namespace leakgate {

// The lock for waiting for the program's end; this process has one for all its threads. While a
// tracer has stopped threads of the program, waitpid would report these stops to any thread of the
// runner. So a thread that polls for the program's end takes this lock first, or tries again later.
// Threads that each stop, and wait for, a process of their own may share the lock.
inline std::shared_mutex& WaitLock() {
  static std::shared_mutex lock;
  return lock;
}

// Returns whether the system call number `call` fails with EINTR when its thread is stopped
// (signal(7)), and may be restarted. The kernel restarts most other calls by itself. If the call
// has a timeout, a restart waits for the full timeout again.
[[nodiscard]] bool IsInterruptedByStops(std::uint64_t call);

// If the stop has interrupted a system call with EINTR, changes `registers` so that the kernel
// restarts the call, unless it runs a signal handler first. Returns true if it has changed them;
// the caller must then set them. REQUIRES: `registers` are those of a thread stopped by ptrace.
[[nodiscard]] bool RestartInterruptedCall(RegisterSet& registers);

}  // namespace leakgate
