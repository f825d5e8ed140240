// Tells whether a process has windows, whose data may hold blocks: who makes a window keeps its
// object there.
#pragma once

#include <span>

#include "runner/reach/nt/process_memory.h"
#include "runner/reach/nt/stopped_process.h"

namespace leakgate {

// Asks only for a process that has loaded the library of windows.
[[nodiscard]] bool HasWindows(int pid, std::span<const StoppedThread> threads,
                              std::span<const ImageModule> modules);

}  // namespace leakgate
