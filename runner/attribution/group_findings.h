// Makes findings of live blocks: one of all blocks that share a symbolised call stack, a kind and
// what became of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/base/shared_text.h"
#include "runner/region/region_copies.h"
#include "runner/result/finding.h"

namespace leakgate {

// What is known about one block beyond what the region tells.
struct BlockFacts {
  Reach reach = Reach::kUnknown;
  Disposition disposition = Disposition::kOutstanding;
  std::string holder;
  SharedText explanation;
  std::string thread;
  SharedText allowance;
  BaselineState baseline = BaselineState::kNoBaseline;
};

// `facts` has an entry for each block, or is empty. The findings are sorted: the user's come before
// the framework's, and what counts before what does not; then come those of more bytes, and of more
// blocks. Equal ones are in the order of their stacks' texts.
[[nodiscard]] std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                                 const std::vector<BlockFacts>& facts,
                                                 CallSites& sites);

// Sorts findings as reports show them; equal ones keep their order.
void SortFindings(std::vector<Finding>& findings);

}  // namespace leakgate
