#include "runner/attribution/group_findings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace leakgate {
namespace {

using Key = std::tuple<std::string_view, AllocationKind, Reach, Disposition, std::string_view,
                       std::string_view>;

const BlockFacts kNothing;

Key KeyOf(const CallSite& site, const LiveBlock& block, const BlockFacts& facts) {
  return {site.text,    site.kind.value_or(block.kind), facts.reach, facts.disposition,
          facts.thread, facts.allowance.get()};
}

Finding MakeFinding(const CallSite& site, const LiveBlock& block, const BlockFacts& facts) {
  Finding finding = site.finding;
  finding.kind = site.kind.value_or(block.kind);
  finding.reach = facts.reach;
  finding.holder = facts.holder;
  finding.disposition = facts.disposition;
  finding.explanation = facts.explanation.get();
  finding.thread = facts.thread;
  finding.allowance = facts.allowance.get();
  finding.baseline = facts.baseline;
  if (!finding.framework_rule.empty()) finding.disposition = Disposition::kFramework;
  return finding;
}

int RankOf(const Finding& finding) {
  switch (finding.disposition) {
    case Disposition::kOutstanding:
    case Disposition::kSteady:
      if (finding.reach == Reach::kLost) return 0;
      return finding.reach == Reach::kIndirectlyLost ? 1 : 2;
    case Disposition::kUnconfirmed:
      return 3;
    case Disposition::kAllowed:
    case Disposition::kOtherThread:
    case Disposition::kReplaced:
    case Disposition::kReleasedLater:
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kKnown:
      return 4;
    case Disposition::kFramework:
      break;
  }
  return 5;
}

}  // namespace

void SortFindings(std::vector<Finding>& findings) {
  const auto rank = [](const Finding& finding) {
    return std::tuple(RankOf(finding), -finding.amount.bytes, -finding.amount.blocks);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
}

std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                   const std::vector<BlockFacts>& facts, CallSites& sites) {
  std::map<Key, Finding> by_key;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const CallSite& site = sites.Of(blocks[i].stack);
    const BlockFacts& known = facts.empty() ? kNothing : facts[i];
    const auto [entry, is_new] = by_key.try_emplace(KeyOf(site, blocks[i], known));
    if (is_new) entry->second = MakeFinding(site, blocks[i], known);
    entry->second.amount += Amount{static_cast<std::int64_t>(blocks[i].size_bytes), 1};
  }
  std::vector<Finding> findings;
  for (auto& [key, finding] : by_key) findings.push_back(std::move(finding));
  SortFindings(findings);
  return findings;
}

}  // namespace leakgate
