// Finds a process and all its descendants, and processes whose tracing nobody uses any more.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// Kills `root`, its descendants, and processes that have left the tree but have `mark` in their
// environment (a NAME=VALUE that only this run's programs have). Returns when none is left, or
// after a second.
void KillProcessTree(int root, const std::string& mark);

// Returns whether `pid` is `root` or a descendant of it, by its parents as they are now.
[[nodiscard]] bool IsBelow(int pid, int root);

// Returns whether `pid` was started with `mark` in its environment; false if that cannot be read.
[[nodiscard]] bool CarriesMark(int pid, const std::string& mark);

// Returns the parent of `pid`; 0 if the process has ended.
[[nodiscard]] int ParentOf(int pid);

// A process that is still traced for a session or a run whose owner was killed. Nobody reads its
// region any more.
struct Orphan {
  int pid = 0;
  int owner_pid = 0;  // the PID that the owner had
  std::string image;  // the file that the process executes
  std::string name;   // the name by which the file was called
};

// Returns the orphans among the processes that this user may look into, sorted by PID. Root finds
// those of all users.
[[nodiscard]] std::vector<Orphan> FindOrphans();

}  // namespace leakgate
