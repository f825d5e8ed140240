// What is known of each block that a window left behind. The steps that find it
// out are session/window_judge.h's; those here ask nobody.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attribution/group_findings.h"
#include "runner/budget/budget_set.h"
#include "runner/region/region_reader.h"
#include "runner/report/run_result.h"

namespace leakgate {

struct WindowEvidence {
  std::vector<LiveBlock> blocks;
  std::vector<BlockFacts> facts;  // of each
};

// Whether what became of a block is still to be found out.
[[nodiscard]] bool IsOpen(const BlockFacts& facts);
// The same, of a block that is the user's.
[[nodiscard]] bool IsCandidate(const WindowEvidence& evidence, std::size_t index, CallSites& sites);

// Where a call site's blocks of earlier windows were freed in `window`, as many
// as it left behind, those replace them: unless they are lost.
void MarkReplaced(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence);

// What is retained and not replaced is open until a repetition tells, where the
// budget that its stack is charged to says so.
void LeaveOpen(const std::function<bool(std::uint32_t stack)>& is_confirmed,
               WindowEvidence& evidence);

// Blocks that are not among `live`, sorted by address, have been freed since.
void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when,
                  WindowEvidence& evidence);

[[nodiscard]] bool IsSameBlock(const LiveBlock& a, const LiveBlock& b);

}  // namespace leakgate
