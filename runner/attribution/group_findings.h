// From live blocks to findings: the blocks that share a symbolised call stack
// and a kind become one, with its call site and the framework rule it matches.
//
// Pure but for `resolve`, which symbolises; it is asked once for each stack id.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/unwind_end.h"
#include "runner/attribution/finding.h"
#include "runner/snapshot/live_block.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct ResolvedStack {
  std::vector<Frame> frames;  // innermost first
  UnwindEnd end = UnwindEnd::kOutermost;
};

// Symbolises a stack id of the blocks' region. The reference must hold until
// the next call.
using StackResolver = std::function<const ResolvedStack&(std::uint32_t stack)>;

// Sorted: the user's own before the framework's, then by bytes and by blocks,
// most first, then by the stack's text.
[[nodiscard]] std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                                 const StackResolver& resolve);

}  // namespace leakgate
