// Tells whether blocks are lost or retained, and what holds them. It stops the program for a
// moment, looks at what the program can still reach, and lets it go on. Where blocks would be lost,
// it looks once more when the other threads have run: lost is what both looks find to be lost.
//
// The judge of a window calls it for the blocks that are outstanding there. The program is stopped
// by a thread that ends before FindReach returns: whatever goes wrong, the kernel lets the
// program's threads go when that thread ends.
#pragma once

#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/linux/look.h"
#include "runner/reach/linux/reach_request.h"
#include "runner/reach/reach.h"

namespace leakgate {

// Returns the reach of each candidate, in their order; it is kUnknown for a block that is no longer
// live. Fails, with the reason and a remedy, if the process cannot be stopped; the rest of the
// run can go on.
[[nodiscard]] Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request);

// The same for all blocks that are live when the program is stopped. Names no holders.
[[nodiscard]] Expected<HeapReach> FindReachOfAll(const ReachRequest& request);

}  // namespace leakgate
