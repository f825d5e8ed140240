// Whether this process may stop one that it has started and read what its threads
// hold, which is how lost memory is told from retained. Used by `leakgate doctor`.
#pragma once

#include "runner/base/expected.h"

namespace leakgate {

// Tries it, with a process made for that: it tells of the kernel, a container's filter
// and a debugger alike. The error says what to do. REQUIRES: this process has one thread.
[[nodiscard]] Expected<void> TryToStopProcess();

}  // namespace leakgate
