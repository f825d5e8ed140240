// What is known of each block that a window left behind, and how it is found out: what asks the
// region and the process stands first, what asks nobody after it. The order of the steps is
// window_judge.h's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/group_findings.h"
#include "runner/budget/budget_set.h"
#include "runner/reach/linux/find_reach.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace leakgate {

struct WindowEvidence {
  std::vector<LiveBlock> blocks;
  std::vector<BlockFacts> facts;  // of each
};

// A recorded stack with its functions and lines.
[[nodiscard]] ResolvedStack SymboliseStack(const RegionReader& region, std::uint32_t stack,
                                           Symbolizer& symbolizer);

// The window that evidence is gathered for, and the thread that asks: 0 if the
// process does not wait.
struct EvidenceRequest {
  const RegionReader& region;
  int pid = 0;
  std::uint32_t window = 0;
  int asking_tid = 0;
};

// What `read` tells. Another thread than the asking one may be about to free what it
// holds: it is given a moment, more each time, a tenth of a second in all. Not if
// `asking_tid` is 0.
using ReadBlocks = std::function<Expected<std::vector<LiveBlock>>()>;
[[nodiscard]] Expected<std::vector<LiveBlock>> BlocksAfterAMoment(const RegionReader& region,
                                                                  int asking_tid,
                                                                  const ReadBlocks& read);

// The live blocks of the window, after a moment.
[[nodiscard]] Expected<WindowEvidence> GatherEvidence(const EvidenceRequest& request);

// Says of the blocks of threads older than the window whose they are. With
// ThreadScope::kTest they do not count.
void NameThreads(const EvidenceRequest& request, ThreadScope scope, CallSites& sites,
                 WindowEvidence& evidence);

// Finds out which of the candidates are lost. Returns why that cannot be told, or nothing.
// REQUIRES: the process waits.
[[nodiscard]] std::string FindLostBlocks(const EvidenceRequest& request, Variables& variables,
                                         HolderWish holders, CallSites& sites,
                                         WindowEvidence& evidence);

// The window's mismatched and double frees.
[[nodiscard]] std::vector<FreeErrorResult> FreeErrorsOf(const RegionReader& region,
                                                        std::uint32_t window, CallSites& sites);

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
