#include "runner/judge/window_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "runner/attribution/framework_rules.h"
#include "runner/base/time_limit.h"
#include "runner/judge/settled_blocks.h"
#include "runner/process/proc_files.h"
#include "runner/region/amount.h"
#include "runner/region/region_words.h"

namespace leakgate {
namespace {

std::string NameOf(int pid, const ThreadCopy& thread) {
  if (thread.has_ended) return thread.name;
  return NameOfThread(pid, thread.tid);
}

// Started before the window began, by whoever; the asking thread runs the tests.
bool IsOlder(const EvidenceRequest& request, const ThreadCopy& thread) {
  if (thread.tid == request.asking_tid || thread.parent == 0) return false;
  return thread.birth_window < request.window;
}

std::string OriginOf(const EvidenceRequest& request, const ThreadCopy& thread, CallSites& sites) {
  std::string origin = fmt::format("thread '{}'", NameOf(request.pid, thread));
  const WindowCopy birth = request.region.Window(thread.birth_window);
  if (birth.kind != WindowKind::kProgram) origin += " of " + birth.name;
  if (thread.origin_stack == 0) return origin;
  return origin + ", started by " + DescribeCallSite(sites.Of(thread.origin_stack).finding);
}

const char* WordsOf(FreeKind kind) {
  switch (kind) {
    case FreeKind::kFree:
      return "free()";
    case FreeKind::kRealloc:
      return "realloc()";
    case FreeKind::kDelete:
      return "delete";
    case FreeKind::kDeleteArray:
      return "delete[]";
  }
  return "free()";
}

std::string TextOf(const FreeErrorCopy& error) {
  if (error.kind == FreeErrorKind::kDouble)
    return fmt::format("freed twice, by {}", WordsOf(error.free_kind));
  return fmt::format("{} B allocated by {} and freed by {}", error.size_bytes,
                     Word(error.allocation_kind), WordsOf(error.free_kind));
}

}  // namespace

namespace {

// Calls `add(module, pc, frames)` for each recorded frame.
template <typename Add>
ResolvedStack ResolveStack(const RegionReader& region, std::uint32_t stack, Add add) {
  const RawStack raw = region.Stack(stack);
  ResolvedStack resolved{{}, raw.end};
  resolved.frames.reserve(2 * raw.frames.size());  // with those that are inlined
  Module module;
  std::uint32_t module_id = 0;
  for (const RawStack::Frame& frame : raw.frames) {
    if (frame.module != module_id) module = region.ModuleOf(frame.module);
    module_id = frame.module;
    add(module, frame.pc, resolved.frames);
  }
  return resolved;
}

}  // namespace

ResolvedStack SymboliseStack(const RegionReader& region, std::uint32_t stack,
                             Symbolizer& symbolizer) {
  const auto add = [&](const Module& module, std::uint64_t pc, std::vector<Frame>& to) {
    std::vector<Frame> frames = symbolizer.Symbolize(module, pc);
    std::move(frames.begin(), frames.end(), std::back_inserter(to));
  };
  return ResolveStack(region, stack, add);
}

ResolvedStack NameStackBySymbols(const RegionReader& region, std::uint32_t stack,
                                 Symbolizer& symbolizer) {
  const auto add = [&](const Module& module, std::uint64_t pc, std::vector<Frame>& to) {
    to.push_back(symbolizer.NameBySymbol(module, pc));
  };
  return ResolveStack(region, stack, add);
}

Expected<WindowEvidence> GatherEvidence(const EvidenceRequest& request) {
  LEAKGATE_TRY_ASSIGN(auto blocks, ReadSettledBlocks(request.region, request.asking_tid, [&] {
                        return request.region.LiveBlocks(request.window);
                      }));
  WindowEvidence evidence{std::move(blocks), {}};
  evidence.facts.resize(evidence.blocks.size());
  return evidence;
}

namespace {

auto AllButAddress(const LiveBlock& block) {
  return std::tuple(block.stack, block.size_bytes, block.thread, block.kind,
                    std::uint32_t{block.phase}, std::uint32_t{block.is_static});
}

struct AlikeHash {
  std::size_t operator()(const LiveBlock& block) const {
    return (block.stack * 0x9e37'79b9'7f4a'7c15 + block.size_bytes) * 0xff51'afd7'ed55'8ccd;
  }
};
struct Alike {
  bool operator()(const LiveBlock& a, const LiveBlock& b) const {
    return AllButAddress(a) == AllButAddress(b);
  }
};

}  // namespace

Expected<WindowEvidence> GatherAlike(const EvidenceRequest& request) {
  constexpr std::size_t kMany = 100'000;
  if (request.region.EstimateBlockCount() < kMany) return GatherEvidence(request);
  WindowEvidence evidence;
  std::unordered_map<LiveBlock, std::size_t, AlikeHash, Alike> known;
  const std::pair<const LiveBlock, std::size_t>* last = nullptr;  // mostly the next is alike, too
  const auto add = [&](const LiveBlock& block) {
    evidence.blocks.push_back(block);
    evidence.facts.emplace_back();
  };
  LEAKGATE_TRY(request.region.VisitBlocks([&](std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) {
      if (block.window != request.window) continue;
      if (block.allowance != 0 || request.reach_of_lost(block)) {
        add(block);
        continue;
      }
      if (last != nullptr && Alike()(last->first, block)) {
        ++evidence.facts[last->second].blocks;
        continue;
      }
      const auto [alike, is_new] = known.try_emplace(block, evidence.blocks.size());
      last = &*alike;
      is_new ? add(block) : void(++evidence.facts[alike->second].blocks);
    }
    return Expected<void>();
  }));
  return evidence;
}

void NameThreads(const EvidenceRequest& request, ThreadScope scope, CallSites& sites,
                 WindowEvidence& evidence) {
  std::map<std::uint32_t, SharedText> origins;  // empty: of the window's own
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const auto [known, is_new] = origins.try_emplace(evidence.blocks[i].thread);
    if (is_new) {
      const ThreadCopy thread = request.region.Thread(evidence.blocks[i].thread);
      if (IsOlder(request, thread)) known->second = OriginOf(request, thread, sites);
    }
    evidence.facts[i].thread = known->second;
    if (known->second.empty() || scope == ThreadScope::kProcess) continue;
    evidence.facts[i].disposition = Disposition::kOtherThread;
  }
}

namespace {

// What an earlier look has found out no longer holds: a block that was retained then and is lost
// now has no holder, and needs no repetition.
void SetReach(Reach reach, BlockFacts& facts) {
  facts.reach = reach;
  facts.holder = {};
  facts.keeper = {};
  facts.leading = {};
  facts.is_held_by_global = false;
  if (IsLost(reach) && facts.disposition == Disposition::kUnconfirmed) {
    facts.disposition = Disposition::kOutstanding;
  }
}

}  // namespace

namespace {

// Returns the block of the chain that is nearest to what it holds, and that no test has made.
std::optional<LiveBlock> KeeperIn(const HolderChain& holder, const RegionReader& region) {
  const auto is_no_tests = [&](const LiveBlock& link) {
    return link.stack != kUnseenStack && region.Window(link.window).kind != WindowKind::kTest;
  };
  const auto keeper = std::find_if(holder.links.rbegin(), holder.links.rend(), is_no_tests);
  if (keeper != holder.links.rend()) return *keeper;
  return holder.outermost && is_no_tests(*holder.outermost) ? holder.outermost : std::nullopt;
}

}  // namespace

SharedText LostWithTexts::Of(const std::shared_ptr<const LostWith>& with) {
  const auto [known, is_new] = texts_.try_emplace(with);
  if (is_new) {
    known->second = sites_.Shared(LostWithText(
        *with, [this](std::uint32_t stack) { return DescribeCallSite(sites_.Of(stack).finding); }));
  }
  return known->second;
}

void SetLostWith(const LiveBlock& block, const std::shared_ptr<const LostWith>& with,
                 LostWithTexts& texts, BlockFacts& facts) {
  facts.leading = {};
  if (with != nullptr && with->root.window == block.window) {
    facts.leading = {with->root.address, with->root.stack};
  } else if (with != nullptr) {
    if (with->of_same_window) {
      facts.leading = {with->of_same_window->address, with->of_same_window->stack};
    }
    facts.leading.other_windows = with->root.stack;
  }
  facts.holder = with != nullptr ? texts.Of(with) : SharedText();
}

namespace {

// Of a map's node and its text, the node leads to the text. The map's own block may be older.
void SetLedBy(const LiveBlock& block, const HolderChain& holder, BlockFacts& facts) {
  const auto parent =
      std::find_if(holder.links.rbegin(), holder.links.rend(), [&](const LiveBlock& link) {
        return link.window == block.window && link.stack != block.stack &&
               link.stack != kUnseenStack;
      });
  if (parent == holder.links.rend()) return;
  facts.leading = {parent->address, parent->stack};
}

}  // namespace

BlockFilter IsKnownLost(const EvidenceRequest& request) {
  if (request.reach_of_lost == nullptr) return nullptr;
  return [&request](const LiveBlock& block) { return request.reach_of_lost(block).has_value(); };
}

std::string FindLostBlocks(const EvidenceRequest& request, Variables& variables,
                           const BlockFilter& names_holder, CallSites& sites,
                           WindowEvidence& evidence) {
  std::vector<LiveBlock> candidates;
  std::vector<BlockFacts*> facts;
  TimeCheck time;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    time.Step();
    if (!IsOpen(evidence.facts[i]) || IsLost(evidence.facts[i].reach)) continue;
    if (!sites.MayBeUsers(evidence.blocks[i].stack)) continue;
    candidates.push_back(evidence.blocks[i]);
    facts.push_back(&evidence.facts[i]);
  }
  if (candidates.empty()) return "";
  BlockFilter is_ignored = nullptr;
  if (!evidence.suppressed.empty()) {
    is_ignored = [&](const LiveBlock& block) {
      return evidence.suppressed.contains(block.address);
    };
  }
  const auto reaches = FindReach({.pid = request.pid,
                                  .region = request.region,
                                  .candidates = candidates,
                                  .variables = variables,
                                  .names_holder = names_holder,
                                  .is_known_lost = IsKnownLost(request),
                                  .is_ignored = is_ignored,
                                  .file_words = request.file_words,
                                  .asking_tid = request.asking_tid});
  if (!reaches) return reaches.error().message;
  LostWithTexts texts(sites);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    SetReach((*reaches)[i].reach, *facts[i]);
    if (IsLost((*reaches)[i].reach)) {
      SetLostWith(candidates[i], (*reaches)[i].lost_with, texts, *facts[i]);
    }
    if ((*reaches)[i].is_ignored) {
      facts[i]->disposition = Disposition::kAllowed;
      facts[i]->allowance = "the code";
      facts[i]->explanation = "only what the code has leak checkers ignore leads to it";
      continue;
    }
    const HolderChain* const holder = (*reaches)[i].holder.get();
    if (holder == nullptr) continue;
    facts[i]->holder = sites.Shared(HolderText(
        *holder, [&](std::uint32_t stack) { return DescribeCallSite(sites.Of(stack).finding); }));
    const std::optional<LiveBlock> keeper = KeeperIn(*holder, request.region);
    if (keeper) facts[i]->keeper = sites.Of(keeper->stack).text;
    SetLedBy(candidates[i], *holder, *facts[i]);
    facts[i]->is_held_by_global = holder->global.has_value();
  }
  return "";
}

std::vector<FreeErrorResult> FreeErrorsOf(const RegionReader& region, std::uint32_t window,
                                          CallSites& sites) {
  std::vector<FreeErrorResult> results;
  for (const FreeErrorCopy& error : region.FreeErrors()) {
    if (error.window != window) continue;
    FreeErrorResult result{TextOf(error), sites.Of(error.free_stack).finding, {}};
    if (error.allocation_stack != 0) result.made_at = sites.Of(error.allocation_stack).finding;
    results.push_back(std::move(result));
  }
  return results;
}

namespace {

// By the whole stack: through a function that allocates for many, what one of them frees is no
// replacement for what another keeps.
using AmountByStack = std::map<std::string, Amount>;

Amount OneBlock(std::uint64_t size_bytes) { return {static_cast<std::int64_t>(size_bytes), 1}; }

AmountByStack FreedIn(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window,
                      CallSites& sites) {
  AmountByStack freed;
  for (const EarlierFreeCopy& free : frees) {
    if (free.window != window) continue;
    const CallSite& site = sites.Of(free.stack);
    // Where stacks share a site, what one of them frees is no replacement for what another keeps.
    if (IsUsers(site.finding) && !site.is_shared) freed[site.text] += OneBlock(free.size_bytes);
  }
  return freed;
}

AmountByStack LeftBehind(const WindowEvidence& evidence, CallSites& sites) {
  AmountByStack left;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!IsCandidate(evidence, i, sites)) continue;
    left[sites.Of(evidence.blocks[i].stack).text] += OneBlock(evidence.blocks[i].size_bytes);
  }
  return left;
}

bool IsAtLeast(Amount freed, Amount left) {
  return freed.blocks >= left.blocks && freed.bytes >= left.bytes;
}

}  // namespace

bool IsOpen(const BlockFacts& facts) {
  return facts.disposition == Disposition::kOutstanding ||
         facts.disposition == Disposition::kUnconfirmed;
}

bool IsCandidate(const WindowEvidence& evidence, std::size_t index, CallSites& sites) {
  if (index % 16'384 == 0) CheckTime();
  return IsOpen(evidence.facts[index]) && IsUsers(sites.Of(evidence.blocks[index].stack).finding);
}

void MarkReplaced(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence) {
  const auto may_replace = [&](const BlockFacts& facts) {
    return IsOpen(facts) && !IsLost(facts.reach);
  };
  if (std::none_of(evidence.facts.begin(), evidence.facts.end(), may_replace)) return;
  const AmountByStack freed = FreedIn(frees, window, sites);
  if (freed.empty()) return;
  const AmountByStack left = LeftBehind(evidence, sites);
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    if (IsLost(facts.reach) || !IsCandidate(evidence, i, sites)) continue;
    const std::string& stack = sites.Of(evidence.blocks[i].stack).text;
    const auto replaced = freed.find(stack);
    if (replaced == freed.end() || !IsAtLeast(replaced->second, left.at(stack))) continue;
    facts.disposition = Disposition::kReplaced;
    facts.explanation =
        fmt::format("{} of this call stack freed meanwhile", FormatAmount(replaced->second));
  }
}

void MarkStatic(const RegionReader& region,
                const std::function<bool(std::uint32_t stack)>& is_confirmed,
                WindowEvidence& evidence) {
  if (region.StaticWasAborted()) return;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    const bool is_held = IsOpen(facts) && facts.reach == Reach::kRetained;
    if (!is_held || !evidence.blocks[i].is_static || !is_confirmed(evidence.blocks[i].stack)) {
      continue;
    }
    facts.disposition = Disposition::kOneTime;
    facts.explanation = "made by what runs once: the initialiser of a static variable";
  }
}

void MarkKeptByListeners(const std::function<bool(std::uint32_t stack)>& is_confirmed,
                         CallSites& sites, WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    const std::uint32_t stack = evidence.blocks[i].stack;
    if (IsLost(facts.reach) || !IsCandidate(evidence, i, sites) || !is_confirmed(stack)) continue;
    if (!IsOfEventListener(sites.Of(stack).finding.stack)) continue;
    facts.disposition = Disposition::kBounded;
    facts.explanation =
        "a listener of GoogleTest's events keeps it for the program, as many times as tests run";
  }
}

void MarkUnconfirmed(const std::function<bool(const LiveBlock& block)>& is_confirmed,
                     WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    const bool is_retained = facts.disposition == Disposition::kOutstanding && !IsLost(facts.reach);
    if (is_retained && is_confirmed(evidence.blocks[i])) {
      facts.disposition = Disposition::kUnconfirmed;
    }
  }
}

void MarkUnseen(bool is_gated_by_loss, CallSites& sites, WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    facts.passes_unseen =
        !IsLost(facts.reach) && (is_gated_by_loss || facts.disposition == Disposition::kOneTime ||
                                 !sites.MayBeUsers(evidence.blocks[i].stack));
  }
}

bool HasUnseen(const WindowEvidence& evidence, CallSites& sites) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!evidence.facts[i].passes_unseen) continue;
    if (sites.MayBeUsers(evidence.blocks[i].stack)) return true;
  }
  return false;
}

std::vector<BlockFacts> AllSeen(const WindowEvidence& evidence) {
  std::vector<BlockFacts> facts = evidence.facts;
  for (BlockFacts& one : facts) one.passes_unseen = false;
  return facts;
}

void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when, Releasable which,
                  WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const bool may_be = which == Releasable::kAllOpen
                            ? IsOpen(evidence.facts[i])
                            : evidence.facts[i].disposition == Disposition::kUnconfirmed;
    if (!may_be || Contains(live, evidence.blocks[i])) continue;
    evidence.facts[i].disposition = Disposition::kReleasedLater;
    evidence.facts[i].explanation = when;
  }
}

bool IsSameBlock(const LiveBlock& a, const LiveBlock& b) {
  return a.address == b.address && a.stack == b.stack && a.window == b.window &&
         a.size_bytes == b.size_bytes;
}

bool Contains(const std::vector<LiveBlock>& blocks, const LiveBlock& block) {
  const auto found = std::lower_bound(
      blocks.begin(), blocks.end(), block,
      [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  return found != blocks.end() && IsSameBlock(*found, block);
}

}  // namespace leakgate
