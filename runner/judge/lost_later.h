// What a look at the whole program tells of windows that have ended: blocks that something still
// led to when their window was judged, and nothing leads to any more. Each is charged to the window
// that allocated it.
//
// Pure but for LookAtWholeProgram.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/base/expected.h"
#include "runner/judge/window_evidence.h"
#include "runner/region/region_copies.h"
#include "runner/result/window_result.h"

namespace leakgate {

struct WholeLook {
  std::vector<LiveBlock> blocks;  // all that are live, by address
  std::vector<Reach> reaches;     // one for each
  LostWiths lost_with = {};       // of those that are indirectly lost

  // Returns with what the block of that number is lost; null if with none, or if it was lost
  // before.
  [[nodiscard]] std::shared_ptr<const LostWith> LostWithOf(std::ptrdiff_t block) const {
    const auto found = lost_with.find(static_cast<std::size_t>(block));
    return found != lost_with.end() ? found->second : nullptr;
  }
};

// Returns which of all live blocks are lost. If none is live but those of `known`, which are sorted
// by address, the process is not stopped, and the look is empty. REQUIRES: the process waits.
[[nodiscard]] Expected<WholeLook> LookAtWholeProgram(const EvidenceRequest& request,
                                                     const std::vector<LiveBlock>& known,
                                                     Variables& variables);

// Returns how `blocks` are lost if nothing at all leads to any of them; nothing if something may,
// or if that cannot be told. REQUIRES: as LookAtWholeProgram.
[[nodiscard]] std::optional<WholeLook> LookForPointersTo(const EvidenceRequest& request,
                                                         std::vector<LiveBlock> blocks,
                                                         Variables& variables);

// Returns those of `wanted`, in their order, that nothing leads to but `account`. REQUIRES: as
// LookAtWholeProgram.
[[nodiscard]] Expected<std::vector<LiveBlock>> FindInAccount(const EvidenceRequest& request,
                                                             const IgnoredAccount& account,
                                                             std::vector<LiveBlock> wanted,
                                                             Variables& variables);

// Up to when something led to a lost block.
enum class LossMoment {
  kInWindow,  // at most to the end of its window
  kAfterWindow,
  kPutOff,           // the process was not looked at as the window ended, but as the iteration did
  kWithDestructors,  // it was allocated as they ran, or nobody looked before they did
  kInAccount,        // only the account of the program's own operator new still leads to it
};

struct LostBlock {
  LiveBlock block;
  Reach reach = Reach::kLost;
  LossMoment moment = LossMoment::kInWindow;
  // As BlockFacts have them:
  LeadingBlock leading = {};
  SharedText holder = {};
  SharedText contents = {};
};

// Returns the explanation of a loss, such as "lost after the test had ended"; empty where the
// window itself explains it.
[[nodiscard]] std::string_view ExplainLoss(LossMoment moment, WindowKind window);

// Takes over what `look` tells of the blocks whose fate is open. `explanation` is for those that
// were not lost before.
void ApplyLook(const WholeLook& look, std::string_view explanation, CallSites& sites,
               WindowEvidence& evidence);

// Takes over which of the open blocks that may be the user's are lost, and of the others nothing:
// what holds them is not known yet.
void TakeLost(const WholeLook& look, CallSites& sites, WindowEvidence& evidence);

// Note that nobody could tell any more what is lost. The second one returns whether that leaves
// anything of the user's in doubt.
void ForgetReach(CallSites& sites, WindowEvidence& evidence);
bool ForgetReach(WindowResult& result);

// Moves `lost` blocks of the window from the findings that counted them as retained to findings of
// lost blocks. Blocks that an allowance or the baseline excuses stay. Returns those that no finding
// has: they were not yet counted as the window ended.
[[nodiscard]] std::vector<LostBlock> MoveToLost(const std::vector<LostBlock>& lost,
                                                CallSites& sites, WindowResult& result);

}  // namespace leakgate
