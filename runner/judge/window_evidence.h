// What is known of each block that a window left behind, and the steps that find it out. Steps that
// ask the region or the process come first, pure ones after them. window_verdict.h tells their
// order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/budget/budget_set.h"
#include "runner/reach/find_reach.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace leakgate {

struct WindowEvidence {
  std::vector<LiveBlock> blocks;
  std::vector<BlockFacts> facts;  // one for each block, or for several that are alike
  // The addresses of blocks that the program's own suppressions cover. What these alone lead to is
  // covered, too.
  std::unordered_set<std::uint64_t> suppressed{};
};

// Returns a recorded stack with its functions and lines.
[[nodiscard]] ResolvedStack SymboliseStack(const RegionReader& region, std::uint32_t stack,
                                           Symbolizer& symbolizer);
// Returns it with the functions that the symbol tables have.
[[nodiscard]] ResolvedStack NameStackBySymbols(const RegionReader& region, std::uint32_t stack,
                                               Symbolizer& symbolizer);

// The window that evidence is gathered for, and the thread that asks: 0 if the
// process does not wait.
struct EvidenceRequest {
  const RegionReader& region;
  int pid = 0;
  std::uint32_t window = 0;
  int asking_tid = 0;
  // Returns the reach of a block that was found lost before; nullopt of all others.
  std::function<std::optional<Reach>(const LiveBlock& block)> reach_of_lost = nullptr;
  FileWords* file_words = nullptr;  // what looks remember; null: nothing
};

// Reads the live blocks of the window as ReadSettledBlocks does (settled_blocks.h).
[[nodiscard]] Expected<WindowEvidence> GatherEvidence(const EvidenceRequest& request);

// Reads likewise, without a process: where there are many, one of those that are alike stands for
// them all. Each that was found lost before, or that the program's code allows, stands for itself.
[[nodiscard]] Expected<WindowEvidence> GatherAlike(const EvidenceRequest& request);

// Names the thread of each block that a thread older than the window allocated. With
// ThreadScope::kTest these blocks do not count.
void NameThreads(const EvidenceRequest& request, ThreadScope scope, CallSites& sites,
                 WindowEvidence& evidence);

// The texts of what blocks are lost with, each made once.
class LostWithTexts {
 public:
  explicit LostWithTexts(CallSites& sites) : sites_(sites) {}

  [[nodiscard]] SharedText Of(const std::shared_ptr<const LostWith>& with);

 private:
  CallSites& sites_;
  std::map<std::shared_ptr<const LostWith>, SharedText> texts_;
};

// Notes with what a lost block is lost; null: with nothing. A block of another window is no part of
// the same finding.
void SetLostWith(const LiveBlock& block, const std::shared_ptr<const LostWith>& with,
                 LostWithTexts& texts, BlockFacts& facts);

// Returns whether a block was found lost before, as a look wants to know; null if none was. The
// request must outlive what is returned.
[[nodiscard]] BlockFilter IsKnownLost(const EvidenceRequest& request);

// Finds out which open blocks that may be the user's, and are not known to be lost, are, and names
// what holds those that `names_holder` wants. Returns why that cannot be told, or an empty text.
// REQUIRES: the process waits.
[[nodiscard]] std::string FindLostBlocks(const EvidenceRequest& request, Variables& variables,
                                         const BlockFilter& names_holder, CallSites& sites,
                                         WindowEvidence& evidence);

// Returns the window's mismatched and double frees.
[[nodiscard]] std::vector<FreeErrorResult> FreeErrorsOf(const RegionReader& region,
                                                        std::uint32_t window, CallSites& sites);

// Marks what initialisers of local static variables have made, and is held: the language has them
// run once in the life of a process. Where one of them was run again, nothing is marked.
void MarkStatic(const RegionReader& region,
                const std::function<bool(std::uint32_t stack)>& is_confirmed,
                WindowEvidence& evidence);

// Marks what the user's own listeners of GoogleTest's events keep: a report has a line of each
// test.
void MarkKeptByListeners(const std::function<bool(std::uint32_t stack)>& is_confirmed,
                         CallSites& sites, WindowEvidence& evidence);

// Returns whether it is still to be found out what became of a block.
[[nodiscard]] bool IsOpen(const BlockFacts& facts);
// Returns whether the block is open and the user's.
[[nodiscard]] bool IsCandidate(const WindowEvidence& evidence, std::size_t index, CallSites& sites);

// Marks blocks that replace older ones: those of a call stack of which `window` freed at least as
// many blocks, and bytes, of earlier windows as it left behind. Lost blocks are not marked.
void MarkReplaced(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence);

// Marks the blocks that are retained and not replaced as unconfirmed, until a repetition decides.
// `is_confirmed` says whether the budget that a block is charged to asks for repetitions.
void MarkUnconfirmed(const std::function<bool(const LiveBlock& block)>& is_confirmed,
                     WindowEvidence& evidence);

// Has the blocks that pass in any case named by symbols alone: the framework's, those that are
// built once and held, and, if `is_gated_by_loss` alone, all that are not lost.
void MarkUnseen(bool is_gated_by_loss, CallSites& sites, WindowEvidence& evidence);

// Returns whether it has blocks of the user's that are named so.
[[nodiscard]] bool HasUnseen(const WindowEvidence& evidence, CallSites& sites);
// Returns the facts of each block, all named in full: what fails is shown with all that it has.
[[nodiscard]] std::vector<BlockFacts> AllSeen(const WindowEvidence& evidence);

// Of a window that fails already, what it fails for stays as it is.
enum class Releasable { kAllOpen, kUnconfirmed };

// Marks the blocks that are not among `live` as freed later. `live` is sorted by address.
void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when, Releasable which,
                  WindowEvidence& evidence);

[[nodiscard]] bool IsSameBlock(const LiveBlock& a, const LiveBlock& b);
// Returns whether `block` is one of `blocks`, which are sorted by address.
[[nodiscard]] bool Contains(const std::vector<LiveBlock>& blocks, const LiveBlock& block);

}  // namespace leakgate
