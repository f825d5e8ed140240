// The registers of a stopped thread, as roots.
#pragma once

#include <optional>

#include "runner/reach/linux/frozen_process.h"

namespace leakgate {

// Everything of `tid` but its name; nothing if it has died. REQUIRES: it is
// stopped, traced by this thread.
[[nodiscard]] std::optional<FrozenThread> ReadRegisters(int tid);

// A system call that our stop has cut short is begun again, unless a signal's
// handler comes first. Most are by themselves; those that a stop ends with EINTR
// (epoll_wait is one) would show the program that it was stopped.
void RestartInterruptedCall(int tid);

}  // namespace leakgate
