#include "runner/judge/lost_later.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// How likely a finding is to have counted a block that is lost now.
enum class Match { kCounted, kExcused, kNone };

Match MatchOf(const Finding& finding) {
  if (IsLost(finding.reach)) return Match::kNone;
  switch (finding.disposition) {
    case Disposition::kAllowed:
    case Disposition::kKnown:
    case Disposition::kOtherThread:
      return Match::kExcused;
    case Disposition::kFramework:
    case Disposition::kReleasedLater:
      return Match::kNone;
    case Disposition::kOutstanding:
    case Disposition::kReplaced:
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kSteady:
    case Disposition::kUnconfirmed:
      break;
  }
  return Match::kCounted;
}

// Once main's thread has ended, others may go on: then the memory can only be seen by way of them.
int ThreadWithMemory(const EvidenceRequest& request) {
  const bool is_by_another = request.asking_tid != 0 && HasDied(request.pid, request.pid);
  return is_by_another ? request.asking_tid : request.pid;
}

// Takes blocks of one call stack and kind out of the findings that have them.
class Source {
 public:
  // `by_symbols` is the same call site as findings have it that passed in any case.
  Source(const CallSite& site, const CallSite& by_symbols, AllocationKind kind,
         std::vector<Finding>& findings) {
    for (Finding& finding : findings) {
      const bool is_same = finding.kind == kind && (finding.stack == site.finding.stack ||
                                                    finding.stack == by_symbols.finding.stack);
      if (!is_same || MatchOf(finding) == Match::kNone) continue;
      (MatchOf(finding) == Match::kCounted ? counted_ : excused_).push_back({&finding});
    }
  }

  // Returns the finding that a block was counted in; nullptr if there is none.
  Finding* TakeCounted(std::uint64_t bytes) {
    Part* const part = PartWith(bytes, counted_);
    if (part == nullptr) return nullptr;
    part->finding->amount = part->finding->amount - Amount{static_cast<std::int64_t>(bytes), 1};
    return part->finding;
  }
  // Returns whether a finding that is excused has one block more.
  bool TakeExcused(std::uint64_t bytes) {
    Part* const part = PartWith(bytes, excused_);
    if (part == nullptr) return false;
    ++part->taken;
    return true;
  }

 private:
  struct Part {
    Finding* finding;
    std::int64_t taken = 0;  // blocks that stay in the finding
  };

  static Part* PartWith(std::uint64_t bytes, std::vector<Part>& parts) {
    const auto has_room = [&](const Part& part) {
      const Amount& amount = part.finding->amount;
      return amount.blocks > part.taken && amount.bytes >= static_cast<std::int64_t>(bytes);
    };
    const auto found = std::find_if(parts.begin(), parts.end(), has_room);
    return found == parts.end() ? nullptr : &*found;
  }

  std::vector<Part> counted_;
  std::vector<Part> excused_;
};

// The findings that blocks are moved to, by the finding that they came from.
class LostFindings {
 public:
  LostFindings(WindowKind window, CallSites& sites) : window_(window), sites_(sites) {}

  void Add(const LostBlock& lost, const CallSite& site, const Finding& from) {
    const auto [entry, is_new] = findings_.try_emplace(
        Key(&from, lost.reach, site.text, lost.leading.stack, lost.leading.other_windows), from);
    Finding& finding = entry->second;
    if (is_new) {
      finding.stack = site.finding.stack;
      finding.stack_end = site.finding.stack_end;
      finding.user_frame = site.finding.user_frame;
      finding.amount = {};
      finding.reach = lost.reach;
      finding.disposition = Disposition::kOutstanding;
      finding.holder = lost.holder.get();
      SetLeading(lost.leading, sites_, finding);
      finding.series.clear();
      finding.explanation = ExplainLoss(lost.moment, window_);
    }
    finding.amount += Amount{static_cast<std::int64_t>(lost.block.size_bytes), 1};
  }

  void MoveInto(std::vector<Finding>& findings) {
    std::erase_if(findings, [](const Finding& finding) { return finding.amount.blocks == 0; });
    for (auto& [key, finding] : findings_) findings.push_back(std::move(finding));
    SortFindings(findings);
  }

 private:
  // A finding that passed in any case may be of several call sites.
  using Key = std::tuple<const Finding*, Reach, std::string_view, std::uint32_t,
                         std::optional<std::uint32_t>>;

  const WindowKind window_;
  CallSites& sites_;
  std::map<Key, Finding> findings_;
};

}  // namespace

std::string_view ExplainLoss(LossMoment moment, WindowKind window) {
  const bool is_with_destructors = moment == LossMoment::kWithDestructors;
  if (moment == LossMoment::kInWindow) return "";
  if (moment == LossMoment::kInAccount) {
    return "only the bookkeeping of the program's own operator new leads to it";
  }
  if (moment == LossMoment::kPutOff) {
    return "lost by the end of the iteration; the heap is too large to scan it after each test";
  }
  switch (window) {
    case WindowKind::kTest:
      return is_with_destructors ? "lost after the test had ended, as static destructors ran"
                                 : "lost after the test had ended";
    case WindowKind::kSuite:
      return is_with_destructors ? "lost after the suite had ended, as static destructors ran"
                                 : "lost after the suite had ended";
    case WindowKind::kProgram:
    case WindowKind::kProcess:
      break;
  }
  return is_with_destructors ? "lost as static destructors ran" : "";
}

namespace {

// Returns whether a block is live that is not one of `known`. The blocks are not kept: there may be
// millions.
Expected<bool> HasNewBlocks(const RegionReader& region, const std::vector<LiveBlock>& known) {
  bool has_new = false;
  auto next = known.begin();  // both are by address
  const Expected<void> visited =
      region.VisitBlocks([&](std::span<const LiveBlock> blocks) -> Expected<void> {
        has_new = std::any_of(blocks.begin(), blocks.end(), [&](const LiveBlock& block) {
          while (next != known.end() && next->address < block.address) ++next;
          return next == known.end() || !IsSameBlock(*next, block);
        });
        if (has_new) return InconclusiveError("");  // no further block is asked for
        return {};
      });
  if (!has_new && !visited) return Unexpected(visited.error());
  return has_new;
}

}  // namespace

Expected<WholeLook> LookAtWholeProgram(const EvidenceRequest& request,
                                       const std::vector<LiveBlock>& known, Variables& variables) {
  LEAKGATE_TRY_ASSIGN(const bool has_new, HasNewBlocks(request.region, known));
  if (!has_new) return WholeLook{};
  LEAKGATE_TRY_ASSIGN(HeapReach heap, FindReachOfAll({.pid = ThreadWithMemory(request),
                                                      .region = request.region,
                                                      .candidates = {},
                                                      .variables = variables,
                                                      .is_known_lost = IsKnownLost(request),
                                                      .file_words = request.file_words,
                                                      .asking_tid = request.asking_tid}));
  WholeLook look{std::move(heap.blocks), std::move(heap.reaches), std::move(heap.lost_with)};
  // What was found lost was not looked at again.
  for (std::size_t i = 0; request.reach_of_lost && i < look.blocks.size(); ++i) {
    if (look.reaches[i] != Reach::kUnknown) continue;
    look.reaches[i] = request.reach_of_lost(look.blocks[i]).value_or(Reach::kUnknown);
  }
  return look;
}

std::optional<WholeLook> LookForPointersTo(const EvidenceRequest& request,
                                           std::vector<LiveBlock> blocks, Variables& variables) {
  if (blocks.empty()) return WholeLook{};
  std::sort(blocks.begin(), blocks.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  Expected<std::optional<std::vector<BlockReach>>> reaches =
      FindAllLost({.pid = ThreadWithMemory(request),
                   .region = request.region,
                   .candidates = blocks,
                   .variables = variables,
                   .file_words = request.file_words,
                   .asking_tid = request.asking_tid});
  if (!reaches || !*reaches) return std::nullopt;
  WholeLook look{std::move(blocks), {}};
  for (BlockReach& reach : **reaches) {
    if (reach.lost_with != nullptr) {
      look.lost_with[look.reaches.size()] = std::move(reach.lost_with);
    }
    look.reaches.push_back(reach.reach);
  }
  return look;
}

Expected<std::vector<LiveBlock>> FindInAccount(const EvidenceRequest& request,
                                               const IgnoredAccount& account,
                                               std::vector<LiveBlock> wanted,
                                               Variables& variables) {
  LEAKGATE_TRY_ASSIGN(const std::vector<BlockReach> reaches,
                      FindReach({.pid = ThreadWithMemory(request),
                                 .region = request.region,
                                 .candidates = wanted,
                                 .variables = variables,
                                 .is_known_lost = IsKnownLost(request),
                                 .ignored = &account,
                                 .file_words = request.file_words,
                                 .asking_tid = request.asking_tid}));
  std::vector<LiveBlock> found;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (IsLost(reaches[i].reach)) found.push_back(wanted[i]);
  }
  return found;
}

namespace {

// What passed because it replaces another block, or is built once, may be lost all the same.
bool MayBeLostYet(const WindowEvidence& evidence, std::size_t index, CallSites& sites) {
  const BlockFacts& facts = evidence.facts[index];
  const bool is_held_so =
      facts.disposition == Disposition::kReplaced || facts.disposition == Disposition::kOneTime;
  if (IsLost(facts.reach) || !(is_held_so || IsOpen(facts))) return false;
  return IsUsers(sites.Of(evidence.blocks[index].stack).finding);
}

}  // namespace

void ApplyLook(const WholeLook& look, std::string_view explanation, CallSites& sites,
               WindowEvidence& evidence) {
  LostWithTexts texts(sites);
  auto seen = look.blocks.begin();  // both are by address
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    BlockFacts& facts = evidence.facts[i];
    while (seen != look.blocks.end() && seen->address < block.address) ++seen;
    if (seen == look.blocks.end()) return;
    const Reach reach = look.reaches[static_cast<std::size_t>(seen - look.blocks.begin())];
    // It was held before, too: whose it is, is asked of the lost ones alone.
    const bool is_still_held = reach == facts.reach;
    if (is_still_held || reach == Reach::kUnknown) continue;
    if (!IsSameBlock(*seen, block) || !MayBeLostYet(evidence, i, sites)) continue;
    facts.reach = reach;
    if (!IsLost(reach)) continue;
    facts.passes_unseen = false;
    facts.disposition = Disposition::kOutstanding;
    facts.holder = {};
    SetLostWith(block, look.LostWithOf(seen - look.blocks.begin()), texts, facts);
    facts.explanation = explanation;
  }
}

void TakeLost(const WholeLook& look, CallSites& sites, WindowEvidence& evidence) {
  LostWithTexts texts(sites);
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const auto seen = std::lower_bound(
        look.blocks.begin(), look.blocks.end(), evidence.blocks[i],
        [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    const bool is_seen = seen != look.blocks.end() && IsSameBlock(*seen, evidence.blocks[i]);
    if (!is_seen || !IsOpen(evidence.facts[i])) continue;
    const Reach reach = look.reaches[static_cast<std::size_t>(seen - look.blocks.begin())];
    const bool may_count = IsLost(reach) && sites.MayBeUsers(evidence.blocks[i].stack);
    if (!may_count) continue;
    evidence.facts[i].reach = reach;
    SetLostWith(evidence.blocks[i], look.LostWithOf(seen - look.blocks.begin()), texts,
                evidence.facts[i]);
  }
}

void ForgetReach(CallSites& sites, WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (MayBeLostYet(evidence, i, sites)) evidence.facts[i].reach = Reach::kUnknown;
  }
}

bool ForgetReach(WindowResult& result) {
  bool is_in_doubt = false;
  for (Finding& finding : result.findings) {
    if (!IsUsers(finding) || MatchOf(finding) != Match::kCounted) continue;
    if (finding.reach == Reach::kRetained) finding.reach = Reach::kUnknown;
    is_in_doubt = true;
  }
  return is_in_doubt;
}

std::vector<LostBlock> MoveToLost(const std::vector<LostBlock>& lost, CallSites& sites,
                                  WindowResult& result) {
  std::vector<LostBlock> not_counted;
  std::map<std::pair<std::uint32_t, AllocationKind>, Source> sources;
  LostFindings moved(result.kind, sites);
  for (const LostBlock& one : lost) {
    const CallSite& site = sites.Of(one.block.stack);
    const AllocationKind kind = site.kind.value_or(one.block.kind);
    const auto source = sources.try_emplace(
        {one.block.stack, kind}, site, sites.BySymbols(one.block.stack), kind, result.findings);
    Finding* const from = source.first->second.TakeCounted(one.block.size_bytes);
    if (from != nullptr) {
      moved.Add(one, site, *from);
    } else if (!source.first->second.TakeExcused(one.block.size_bytes)) {
      not_counted.push_back(one);
    }
  }
  moved.MoveInto(result.findings);
  return not_counted;
}

}  // namespace leakgate
