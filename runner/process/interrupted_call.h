// System calls that a thread waits in, and what a stop by ptrace does to them.
//
// Most begin again by themselves. Some end with EINTR (signal(7)), which would show the
// program that it was stopped: they are made to begin again.
#pragma once

#include <cstdint>

#include "runner/arch/registers.h"

namespace leakgate {

// Ends with EINTR, and may be made again; a time limit it then counts anew.
[[nodiscard]] bool EndsWhenStopped(std::uint64_t call);

// For a thread stopped by ptrace: if the stop has cut a system call short with EINTR,
// changes its registers so that the call begins again, unless a signal's handler comes
// first. True: they have been changed, and are to be set.
[[nodiscard]] bool BeginAgain(RegisterSet& registers);

}  // namespace leakgate
