// Ends a process and everything that it started.
#pragma once

#include <sys/types.h>

#include <string>

namespace leakgate {

// Kills `root`, its descendants, and whatever else carries `mark` (a NAME=VALUE
// that only this run's programs have) in its environment: those that left the
// tree. Returns when none is left to be found, or after a second of trying.
void KillProcessTree(pid_t root, const std::string& mark);

}  // namespace leakgate
