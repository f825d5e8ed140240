// Tells whether blocks are lost or retained, and what holds them. It stops the program for a
// moment, looks at what the program can still reach, and lets it go on.
//
// The judge of a window calls it for the blocks that are outstanding there. The program is stopped
// by a thread that ends before FindReach returns: whatever goes wrong, the kernel lets the
// program's threads go when that thread ends.
#pragma once

#include <span>
#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// Whether holders of retained blocks are to be named. Only one block of each stack gets a holder,
// because a report shows no more. Naming takes longer than looking.
enum class HolderWish { kTell, kLeaveOut };

struct ReachRequest {
  int pid = 0;
  const RegionReader& region;
  std::span<const LiveBlock> candidates;  // in any order
  Variables& variables;                   // names of holders come from here
  HolderWish holders = HolderWish::kTell;
  int asking_tid = 0;  // the thread that waits in the agent for an answer; 0 if there is none
};

// Returns the reach of each candidate, in their order; it is kUnknown for a block that is no longer
// live. Fails, with the reason and a remedy, if the process cannot be stopped; the rest of the
// run can go on.
[[nodiscard]] Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request);

}  // namespace leakgate
