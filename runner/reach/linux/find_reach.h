// Lost or retained, and by whom: stops the program for a moment, looks at what it
// can still reach, and lets it go on.
//
// Called by whoever judges a window, for what is outstanding there. It makes a
// thread of its own, which ends before it returns: should anything go wrong, the
// kernel lets the program's threads go with it.
#pragma once

#include <span>
#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/holder.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// Whether it is to be told who holds what is retained: of one block of each stack,
// for that is what a report shows. Naming takes longer than looking.
enum class HolderWish { kTell, kLeaveOut };

struct ReachRequest {
  int pid = 0;
  const RegionReader& region;
  std::span<const LiveBlock> candidates;  // in any order
  Variables& variables;                   // to name holders by
  HolderWish holders = HolderWish::kTell;
  int asking_tid = 0;  // of the thread that waits in the agent for an answer; 0: none
};

// One for each candidate, in their order; kUnknown for one that is no longer live.
// Fails, with the reason and a remedy, where the process cannot be stopped; the
// rest of the run can go on.
[[nodiscard]] Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request);

}  // namespace leakgate
