// What is known of each block that a window left behind, and what that makes of
// it. The steps, in order, are those of WindowJudge::Judge.
#pragma once

#include <string_view>
#include <vector>

#include "runner/attribution/group_findings.h"
#include "runner/budget/budget_set.h"
#include "runner/snapshot/region_reader.h"

namespace leakgate {

struct WindowEvidence {
  std::vector<LiveBlock> blocks;
  std::vector<BlockFacts> facts;  // of each
};

// The live blocks of `window`. Another thread than `asking_tid` may be about to
// free what it holds: it is given a moment, more each time, a tenth of a second
// in all. 0: nobody is waited for.
[[nodiscard]] Expected<WindowEvidence> GatherEvidence(const RegionReader& region,
                                                      std::uint32_t window, int asking_tid);

// Says of the blocks of threads older than the window whose they are.
void NameThreads(const RegionReader& region, std::uint32_t window, WindowEvidence& evidence);

// Asks which of the candidates are lost; why not, if that cannot be told. Only
// blocks that are nobody else's are candidates. REQUIRES: the process waits.
[[nodiscard]] std::string TellReach(const RegionReader& region, int pid, CallSites& sites,
                                    WindowEvidence& evidence);

// Where a call site's blocks of earlier windows were freed in `window`, as many
// as it left behind, those replace them: unless they are lost.
void MarkReplaced(const RegionReader& region, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence);

// What is retained and not replaced is open until a repetition tells.
void LeaveOpen(WindowEvidence& evidence);

// Blocks that are not among `live`, sorted by address, have been freed since.
void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when,
                  WindowEvidence& evidence);

[[nodiscard]] bool IsSameBlock(const LiveBlock& a, const LiveBlock& b);

}  // namespace leakgate
