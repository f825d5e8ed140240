#include "runner/judgement/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/report/quantity_text.h"

namespace leakgate {
namespace {

using CountByCallSite = std::map<std::string, std::int64_t>;

CountByCallSite FreedIn(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window,
                        CallSites& sites) {
  CountByCallSite freed;
  for (const EarlierFreeCopy& free : frees) {
    const Finding& site = sites.Of(free.stack).finding;
    if (free.window == window && IsUsers(site)) ++freed[AllocationPathKey(site)];
  }
  return freed;
}

CountByCallSite LeftBehind(const WindowEvidence& evidence, CallSites& sites) {
  CountByCallSite left;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!IsCandidate(evidence, i, sites)) continue;
    ++left[AllocationPathKey(sites.Of(evidence.blocks[i].stack).finding)];
  }
  return left;
}

}  // namespace

bool IsOpen(const BlockFacts& facts) {
  return facts.disposition == Disposition::kOutstanding ||
         facts.disposition == Disposition::kUnconfirmed;
}

bool IsCandidate(const WindowEvidence& evidence, std::size_t index, CallSites& sites) {
  return IsOpen(evidence.facts[index]) && IsUsers(sites.Of(evidence.blocks[index].stack).finding);
}

void MarkReplaced(const std::vector<EarlierFreeCopy>& frees, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence) {
  const CountByCallSite freed = FreedIn(frees, window, sites);
  if (freed.empty()) return;
  const CountByCallSite left = LeftBehind(evidence, sites);
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    if (IsLost(facts.reach) || !IsCandidate(evidence, i, sites)) continue;
    const std::string key = AllocationPathKey(sites.Of(evidence.blocks[i].stack).finding);
    const auto replaced = freed.find(key);
    if (replaced == freed.end() || replaced->second < left.at(key)) continue;
    facts.disposition = Disposition::kReplaced;
    facts.explanation =
        fmt::format("{} of this call site freed meanwhile", FormatCount(replaced->second, "block"));
  }
}

void LeaveOpen(const std::function<bool(std::uint32_t stack)>& is_confirmed,
               WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    const bool is_retained = facts.disposition == Disposition::kOutstanding && !IsLost(facts.reach);
    if (is_retained && is_confirmed(evidence.blocks[i].stack)) {
      facts.disposition = Disposition::kUnconfirmed;
    }
  }
}

void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when,
                  WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    const auto found = std::lower_bound(
        live.begin(), live.end(), block,
        [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    const bool is_live = found != live.end() && IsSameBlock(*found, block);
    if (is_live || !IsOpen(evidence.facts[i])) continue;
    evidence.facts[i].disposition = Disposition::kReleasedLater;
    evidence.facts[i].explanation = when;
  }
}

bool IsSameBlock(const LiveBlock& a, const LiveBlock& b) {
  return a.address == b.address && a.stack == b.stack && a.window == b.window &&
         a.size_bytes == b.size_bytes;
}

}  // namespace leakgate
