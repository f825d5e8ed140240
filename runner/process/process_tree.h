// A process and everything that it started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace leakgate {

// Kills `root`, its descendants, and whatever else carries `mark` (a NAME=VALUE
// that only this run's programs have) in its environment: those that left the
// tree. Returns when none is left to be found, or after a second of trying.
void KillProcessTree(pid_t root, const std::string& mark);

// Whether `pid` is `root` or below it, by its parents as they are now.
[[nodiscard]] bool IsBelow(pid_t pid, pid_t root);

// Whether `pid` was started with `mark` (as above) in its environment, as far as it can be read.
[[nodiscard]] bool CarriesMark(pid_t pid, const std::string& mark);

// The process that `pid` is a child of; 0 if it has gone.
[[nodiscard]] int ParentOf(int pid);

// Processes that are traced still for a session or a run whose owner was killed: nobody looks
// at their regions any more.

struct Orphan {
  int pid = 0;
  int owner_pid = 0;  // which has ended
  std::string image;  // the file that it executes
};

// Of this user's processes, of all if it is root's; by PID.
[[nodiscard]] std::vector<Orphan> FindOrphans();

}  // namespace leakgate
