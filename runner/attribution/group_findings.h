// From live blocks to findings: the blocks that share a symbolised call stack,
// a kind and what became of them are one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/finding.h"
#include "runner/base/shared_text.h"
#include "runner/region/live_block.h"

namespace leakgate {

// What was found out about one block, beyond the region.
struct BlockFacts {
  Reach reach = Reach::kUnknown;
  Disposition disposition = Disposition::kOutstanding;
  std::string holder;
  SharedText explanation;
  std::string thread;
  SharedText allowance;
  BaselineState baseline = BaselineState::kNoBaseline;
};

// `facts`: of each block, or none at all. Sorted: the user's own before the
// framework's, what counts before what does not, then by bytes and by blocks,
// most first, then by the stack's text.
[[nodiscard]] std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                                 const std::vector<BlockFacts>& facts,
                                                 CallSites& sites);

// The order in which findings are shown.
void SortFindings(std::vector<Finding>& findings);

}  // namespace leakgate
