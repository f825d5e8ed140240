// Processes that are traced still for a session or a run whose owner was killed: nobody looks
// at their regions any more.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

struct Orphan {
  int pid = 0;
  int owner_pid = 0;  // which has ended
  std::string image;  // the file that it executes
};

// Of this user's processes, of all if it is root's; by PID.
[[nodiscard]] std::vector<Orphan> FindOrphans();

}  // namespace leakgate
