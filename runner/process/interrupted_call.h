// Restarts system calls that a stop by ptrace has interrupted.
//
// The kernel restarts most calls by itself. Some fail with EINTR instead (signal(7)), which would
// show the program that it was stopped.
#pragma once

#include <cstdint>

#include "runner/arch/registers.h"

namespace leakgate {

// Whether the system call number `call` fails with EINTR when its thread is stopped, and may be
// restarted. If the call has a timeout, a restart begins that anew.
[[nodiscard]] bool IsInterruptedByStops(std::uint64_t call);

// If the stop has interrupted a system call with EINTR, changes `registers` so that the kernel
// restarts the call, unless it runs a signal handler first. Returns true if it has changed them;
// the caller must then set them. REQUIRES: `registers` are those of a thread stopped by ptrace.
[[nodiscard]] bool RestartInterruptedCall(RegisterSet& registers);

}  // namespace leakgate
