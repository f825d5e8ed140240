#include "runner/judge/allowances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "runner/attribution/stack_pattern.h"
#include "runner/judge/window_verdict.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

// One allowance, wherever it comes from, and what it would cover.
struct Permit {
  SharedText place;  // "FILE:LINE"
  SharedText reason;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> blocks;
  Amount claimed{};
};

bool Suffices(const Permit& permit) {
  return (!permit.bytes || permit.claimed.bytes <= *permit.bytes) &&
         (!permit.blocks || permit.claimed.blocks <= *permit.blocks);
}

std::string LimitText(const Permit& permit) {
  std::vector<std::string> parts;
  if (permit.bytes) parts.push_back(FormatBytes(*permit.bytes));
  if (permit.blocks) parts.push_back(FormatCount(*permit.blocks, "block"));
  return fmt::format("{}", fmt::join(parts, " in "));
}

// Of one window. Each is held against all of its blocks; what is beyond is not allowed.
constexpr int kMostExpected = 1000;

// The texts of so many allowances that they are longer in all are the program's writing.
constexpr std::size_t kMostTextBytes = 64UL << 20;

// Blocks that claim the same permit are covered together or not at all.
class Claims {
 public:
  // Returns false if there are too many texts; then nothing is allowed for this one.
  bool TakeText(std::size_t bytes) { return (text_bytes_ += bytes) <= kMostTextBytes; }

  Permit& Add(const std::string& place) { return permits_.try_emplace(place).first->second; }

  void Claim(std::size_t index, Permit& permit, const LiveBlock& block) {
    permit.claimed += Amount{static_cast<std::int64_t>(block.size_bytes), 1};
    claims_.emplace_back(index, &permit);
  }

  void Settle(WindowEvidence& evidence) const {
    std::map<const Permit*, SharedText> exceeded;
    for (const auto& [index, permit] : claims_) {
      BlockFacts& facts = evidence.facts[index];
      if (Suffices(*permit)) {
        facts.disposition = Disposition::kAllowed;
        facts.allowance = permit->place;
        facts.explanation = permit->reason;
      } else {
        SharedText& text = exceeded[permit];
        if (text.empty()) {
          text = fmt::format("more than {} permits: {} for {}", permit->place.get(),
                             LimitText(*permit), FormatAmount(permit->claimed));
        }
        facts.explanation = text;
      }
    }
  }

 private:
  std::map<std::string, Permit> permits_;  // by place
  std::vector<std::pair<std::size_t, Permit*>> claims_;
  std::size_t text_bytes_ = 0;
};

std::optional<std::int64_t> LimitOf(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

std::string PlaceOf(const AllowanceCopy& allowance) {
  if (allowance.kind == AllowanceKind::kIgnored) return allowance.file;
  return fmt::format("{}:{}", allowance.file, allowance.line);
}
std::string PlaceOf(const AppliedAllowance& allowance) {
  return fmt::format("{}:{}", allowance.source.file, allowance.source.line);
}

void Fill(const AllowanceCopy& allowance, Permit& permit) {
  permit.place = PlaceOf(allowance);
  permit.reason = allowance.reason;
  permit.bytes = LimitOf(allowance.bytes);
  permit.blocks = LimitOf(allowance.blocks);
}

void Fill(const AppliedAllowance& allowance, Permit& permit) {
  permit.place = PlaceOf(allowance);
  permit.reason = allowance.source.reason;
  permit.bytes = allowance.bytes;
  permit.blocks = allowance.blocks;
}

Permit* AddPermit(const AllowanceCopy& allowance, Claims& claims) {
  if (allowance.id == 0 || !claims.TakeText(allowance.reason.size())) return nullptr;
  Permit& permit = claims.Add(PlaceOf(allowance));
  Fill(allowance, permit);
  return &permit;
}

// A scope ends with the test that it began in, at the latest. Returns why it allows nothing in
// `window`; empty if it does.
std::string WhyOver(const RegionReader& region, const AllowanceCopy& allowance,
                    std::uint32_t window) {
  if (allowance.kind == AllowanceKind::kLeftOn) {
    return fmt::format(
        "the ScopedAllowance at {} allows nothing: it was still on when its test had ended, since "
        "a jump left it, something keeps it, or another thread ended it",
        PlaceOf(allowance));
  }
  if (allowance.kind == AllowanceKind::kIgnored) return "";
  const bool is_of_a_test =
      allowance.id != 0 && region.Window(allowance.window).kind == WindowKind::kTest;
  if (!is_of_a_test || allowance.window == window) return "";
  return fmt::format(
      "the ScopedAllowance at {} allows nothing here: it began in an earlier test, and a scope "
      "ends with its test",
      PlaceOf(allowance));
}

void Cover(const Permit& permit, BlockFacts& facts) {
  facts.disposition = Disposition::kAllowed;
  facts.allowance = permit.place;
  facts.explanation = permit.reason;
}

// A block, or all of a finding, that allowances of budget files match.
struct Claimant {
  std::size_t index = 0;  // among the others
  Amount amount;
  const std::vector<Permit*>* permits = nullptr;  // the closest first
};

// Lets the allowances of budget files take blocks: each block asks the allowance that fits it
// closest; those that are refused ask the next one, and so on.
class Takings {
 public:
  // `claimed` has been taken before.
  Permit* Add(const AppliedAllowance& allowance, Amount claimed = {}) {
    const auto [known, is_new] = permits_.try_emplace(
        fmt::format("{} {} {} {}", PlaceOf(allowance), allowance.bytes.value_or(-1),
                    allowance.blocks.value_or(-1), fmt::join(allowance.stack, "\n")));
    Fill(allowance, known->second);
    if (is_new) known->second.claimed = asked_[&known->second] = claimed;
    return &known->second;
  }

  void Take(std::vector<Claimant> asking) {
    for (std::size_t round = 0; !asking.empty(); ++round) asking = TakeRound(asking, round);
  }

  // Calls `cover(index, permit)` or `refuse(index, explanation)` for each that asked.
  template <typename CoverOne, typename RefuseOne>
  void Settle(const CoverOne& cover, const RefuseOne& refuse) {
    const std::map<const Permit*, SharedText> exceeded = ListExceeded();
    for (const auto& [claimant, permit] : taken_) {
      const auto found = exceeded.find(permit);
      if (found == exceeded.end()) {
        cover(claimant.index, *permit);
      } else {
        refuse(claimant.index, found->second);
      }
    }
    for (const Claimant& claimant : left_over_) {
      refuse(claimant.index, exceeded.at(claimant.permits->front()));
    }
  }

 private:
  // Returns those that are refused and have another allowance to ask. Those that have none are
  // served first, and large ones before small ones.
  std::vector<Claimant> TakeRound(std::vector<Claimant>& asking, std::size_t round) {
    std::stable_sort(asking.begin(), asking.end(), [](const Claimant& a, const Claimant& b) {
      if (a.permits->size() != b.permits->size()) return a.permits->size() < b.permits->size();
      return a.amount.bytes > b.amount.bytes;
    });
    std::vector<Claimant> refused;
    for (const Claimant& claimant : asking) {
      Permit& permit = *(*claimant.permits)[round];
      asked_[&permit] += claimant.amount;
      permit.claimed += claimant.amount;
      if (Suffices(permit)) {
        taken_.emplace_back(claimant, &permit);
        continue;
      }
      permit.claimed = permit.claimed - claimant.amount;
      const bool is_last = round + 1 == claimant.permits->size();
      (is_last ? left_over_ : refused).push_back(claimant);
    }
    return refused;
  }

  std::map<const Permit*, SharedText> ListExceeded() const {
    std::map<const Permit*, SharedText> exceeded;
    for (const Claimant& claimant : left_over_) {
      for (const Permit* const permit : *claimant.permits) {
        SharedText& text = exceeded[permit];
        if (!text.empty()) continue;
        text = fmt::format("more than {} permits: {} for {}", permit->place.get(),
                           LimitText(*permit), FormatAmount(asked_.at(permit)));
      }
    }
    return exceeded;
  }

  // By all that tells them apart: a file may be one line.
  std::map<std::string, Permit> permits_;
  std::map<const Permit*, Amount> asked_;  // all that asked it
  std::vector<std::pair<Claimant, const Permit*>> taken_;
  std::vector<Claimant> left_over_;
};

}  // namespace

void AllowByScope(const RegionReader& region, CallSites& sites, WindowEvidence& evidence) {
  struct Scope {
    Permit* permit = nullptr;  // null: none
    SharedText why_over;       // if it holds no longer
  };
  Claims claims;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Scope> scopes;  // by allowance and window
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    if (block.allowance == 0 || !IsCandidate(evidence, i, sites)) continue;
    const auto [known, is_new] = scopes.try_emplace({block.allowance, block.window});
    Scope& scope = known->second;
    if (is_new) {
      const AllowanceCopy allowance = region.Allowance(block.allowance);
      scope.why_over = WhyOver(region, allowance, block.window);
      if (scope.why_over.empty()) scope.permit = AddPermit(allowance, claims);
    }
    if (scope.permit != nullptr) claims.Claim(i, *scope.permit, block);
    if (!scope.why_over.empty()) evidence.facts[i].explanation = scope.why_over;
  }
  claims.Settle(evidence);
}

void AllowByBudget(const BudgetOfStack& budget_of, CallSites& sites, WindowEvidence& evidence) {
  Takings takings;
  std::unordered_map<std::uint32_t, std::vector<Permit*>> known;  // by stack
  std::vector<Claimant> asking;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    const AppliedBudget& budget = budget_of(block.stack);
    if (budget.allowances.empty() || !IsCandidate(evidence, i, sites)) continue;
    const auto [permits, is_new] = known.try_emplace(block.stack);
    if (is_new) {
      for (const AppliedAllowance* const allowance :
           FindAllowances(budget.allowances, sites.Of(block.stack).finding)) {
        permits->second.push_back(takings.Add(*allowance));
      }
    }
    if (permits->second.empty()) continue;
    asking.push_back({.index = i,
                      .amount = {static_cast<std::int64_t>(block.size_bytes), 1},
                      .permits = &permits->second});
  }
  takings.Take(std::move(asking));
  takings.Settle(
      [&](std::size_t i, const Permit& permit) { Cover(permit, evidence.facts[i]); },
      [&](std::size_t i, const SharedText& why) { evidence.facts[i].explanation = why; });
}

namespace {

// What is lost with one block of the window.
struct LedToGroup {
  std::vector<std::size_t> blocks;  // in the evidence
  Amount amount;
  std::optional<std::size_t> root;  // likewise, unless it was told before
  Permit* permit = nullptr;         // that covers the root; null: none
};

std::optional<std::size_t> FindBlock(const WindowEvidence& evidence, std::uint64_t address) {
  const auto found =
      std::lower_bound(evidence.blocks.begin(), evidence.blocks.end(), address,
                       [](const LiveBlock& a, std::uint64_t wanted) { return a.address < wanted; });
  if (found == evidence.blocks.end() || found->address != address) return std::nullopt;
  return static_cast<std::size_t>(found - evidence.blocks.begin());
}

const AppliedAllowance* FindAt(const std::string& place, const AppliedBudget& budget,
                               const Finding& site) {
  for (const AppliedAllowance* const allowance : FindAllowances(budget.allowances, site)) {
    if (PlaceOf(*allowance) == place) return allowance;
  }
  return nullptr;
}

// Several allowances may stand in one line. What none of them matches was covered with what leads
// to it.
bool MayBeCoveredBy(const AppliedAllowance& allowance, const Finding& finding,
                    const AppliedBudget& budget) {
  if (finding.allowance != PlaceOf(allowance)) return false;
  const AppliedAllowance* const own = FindAt(finding.allowance, budget, finding);
  return own == nullptr || own == &allowance;
}

// The allowances that cover blocks of a window, with all that they cover.
class CoveringPermits {
 public:
  CoveringPermits(const ScopeById& scope_of, const BudgetOfStack& budget_of,
                  const std::vector<Finding>& earlier, CallSites& sites,
                  const WindowEvidence& evidence)
      : scope_of_(scope_of), budget_of_(budget_of), sites_(sites) {
    for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
      const LiveBlock& block = evidence.blocks[i];
      Permit* const permit = Of(block, evidence.facts[i]);
      if (permit == nullptr) continue;
      permit->claimed += Amount{static_cast<std::int64_t>(block.size_bytes), 1};
    }
    for (const Finding& finding : earlier) {
      if (finding.disposition == Disposition::kAllowed) earlier_.push_back(&finding);
    }
  }

  // Returns what covers a block; null if nothing does, or only an allowance for all of a test.
  Permit* Of(const LiveBlock& block, const BlockFacts& facts) {
    if (facts.disposition != Disposition::kAllowed) return nullptr;
    const AppliedAllowance* allowance = FindAtFor(block.stack, facts);
    const bool is_by_root = allowance == nullptr && facts.leading.address != 0;
    if (is_by_root) allowance = FindAtFor(facts.leading.stack, facts);
    if (allowance != nullptr) return &At(*allowance);
    const AllowanceCopy scope = scope_of_(block.allowance);
    if (scope.id == 0 || PlaceOf(scope) != facts.allowance.get()) return nullptr;
    const auto [known, is_new] = scopes_.try_emplace(scope.id);
    if (is_new) Fill(scope, known->second);
    return &known->second;
  }

  // Returns what covers the blocks of a call stack that were told before.
  Permit* OfEarlier(std::uint32_t stack) {
    const std::string& text = sites_.Of(stack).text;
    for (const Finding* const finding : earlier_) {
      if (CallStackKey(*finding) != text) continue;
      const AppliedBudget& budget = budget_of_(stack);
      const AppliedAllowance* const allowance = FindAt(finding->allowance, budget, *finding);
      if (allowance == nullptr) continue;
      Permit& permit = At(*allowance);
      if (with_earlier_.insert(&permit).second) AddEarlier(*allowance, budget, permit);
      return &permit;
    }
    return nullptr;
  }

 private:
  const AppliedAllowance* FindAtFor(std::uint32_t stack, const BlockFacts& facts) {
    return FindAt(facts.allowance.get(), budget_of_(stack), sites_.Of(stack).finding);
  }

  Permit& At(const AppliedAllowance& allowance) {
    const auto [known, is_new] = permits_.try_emplace(&allowance);
    if (is_new) Fill(allowance, known->second);
    return known->second;
  }

  void AddEarlier(const AppliedAllowance& allowance, const AppliedBudget& budget, Permit& permit) {
    for (const Finding* const finding : earlier_) {
      if (MayBeCoveredBy(allowance, *finding, budget)) permit.claimed += finding->amount;
    }
  }

  const ScopeById& scope_of_;
  const BudgetOfStack& budget_of_;
  CallSites& sites_;
  std::vector<const Finding*> earlier_;
  std::set<const Permit*> with_earlier_;
  std::map<const AppliedAllowance*, Permit> permits_;
  std::map<std::uint32_t, Permit> scopes_;  // by id
};

// What it covered already is lost after all.
void Refuse(const Permit& permit, BlockFacts& facts) {
  facts.explanation = fmt::format("more than {} permits: {} for {}", permit.place.get(),
                                  LimitText(permit), FormatAmount(permit.claimed));
  if (facts.disposition != Disposition::kAllowed) return;
  facts.disposition = Disposition::kOutstanding;
  facts.reach = Reach::kLost;
  facts.allowance = {};
}

}  // namespace

void AllowLedTo(const ScopeById& scope_of, const BudgetOfStack& budget_of,
                const std::vector<Finding>& earlier, CallSites& sites, WindowEvidence& evidence) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, LedToGroup> groups;  // by root and its stack
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const BlockFacts& facts = evidence.facts[i];
    if (facts.leading.address == 0 || !IsLost(facts.reach) || !IsCandidate(evidence, i, sites))
      continue;
    LedToGroup& group = groups[{facts.leading.address, facts.leading.stack}];
    group.blocks.push_back(i);
    group.amount += Amount{static_cast<std::int64_t>(evidence.blocks[i].size_bytes), 1};
  }
  if (groups.empty()) return;
  CoveringPermits covering(scope_of, budget_of, earlier, sites, evidence);
  for (auto& [root, group] : groups) {
    group.root = FindBlock(evidence, root.first);
    Permit* const permit =
        group.root ? covering.Of(evidence.blocks[*group.root], evidence.facts[*group.root])
                   : covering.OfEarlier(root.second);
    group.permit = permit;
    if (permit != nullptr) permit->claimed += group.amount;
  }
  for (const auto& [root, group] : groups) {
    if (group.permit == nullptr) continue;
    const Permit& permit = *group.permit;
    for (const std::size_t i : group.blocks) {
      Suffices(permit) ? Cover(permit, evidence.facts[i]) : Refuse(permit, evidence.facts[i]);
    }
    if (!Suffices(permit) && group.root) Refuse(permit, evidence.facts[*group.root]);
  }
}

namespace {

const AppliedBudget& BudgetOf(const Finding& finding, const WindowResult& window) {
  for (const auto& budget : window.code_budgets) {
    if (budget->component == finding.component) return *budget;
  }
  return *window.budget;
}

Amount AllowedBy(const AppliedAllowance& allowance, const WindowResult& window) {
  Amount allowed;
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (const Finding& finding : *findings) {
      const AppliedBudget& budget = BudgetOf(finding, window);
      if (MayBeCoveredBy(allowance, finding, budget)) allowed += finding.amount;
    }
  }
  return allowed;
}

// Returns the finding's own allowances, and else the one that covers what leads to it.
std::vector<const AppliedAllowance*> AllowancesOf(const Finding& finding,
                                                  const WindowResult& window) {
  const AppliedBudget& budget = BudgetOf(finding, window);
  std::vector<const AppliedAllowance*> own = FindAllowances(budget.allowances, finding);
  if (!own.empty() || finding.led_by.empty()) return own;
  for (const Finding& other : window.findings) {
    if (other.allowance.empty() || CallStackKey(other) != finding.led_by) continue;
    const AppliedAllowance* const covering = FindAt(other.allowance, budget, other);
    if (covering != nullptr) return {covering};
  }
  return {};
}

}  // namespace

bool AllowWhatFails(WindowResult& window) {
  Takings takings;
  std::vector<Finding*> failing;
  std::vector<std::vector<Permit*>> permits;
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (!MakesFail(finding)) continue;
      std::vector<Permit*> own;
      for (const AppliedAllowance* const allowance : AllowancesOf(finding, window)) {
        own.push_back(takings.Add(*allowance, AllowedBy(*allowance, window)));
      }
      if (own.empty()) continue;
      failing.push_back(&finding);
      permits.push_back(std::move(own));
    }
  }
  std::vector<Claimant> asking;
  for (std::size_t i = 0; i < failing.size(); ++i) {
    asking.push_back({.index = i, .amount = failing[i]->amount, .permits = &permits[i]});
  }
  bool has_allowed = false;
  takings.Take(std::move(asking));
  takings.Settle(
      [&](std::size_t i, const Permit& permit) {
        failing[i]->disposition = Disposition::kAllowed;
        failing[i]->allowance = permit.place;
        failing[i]->explanation = permit.reason;
        has_allowed = true;
      },
      [&](std::size_t i, const SharedText& why) {
        SharedText& text = failing[i]->explanation;
        const std::string which = why.get().substr(0, why.get().find(" permits: "));
        if (text.get().find(which) != std::string::npos) return;  // it was told for the blocks
        text += (text.empty() ? "" : "; ") + why.get();
      });
  return has_allowed;
}

void DecideByAllowances(WindowResult& window) {
  DecideVerdict(window);
  if (window.verdict != Verdict::kOverBudget || !AllowWhatFails(window)) return;
  SortFindings(window.findings);
  SortFindings(window.mappings);
  DecideVerdict(window);
}

void AllowBySuppressions(Suppressions& suppressions, CallSites& sites, WindowEvidence& evidence) {
  std::unordered_map<std::uint32_t, SharedText> reasons;  // by stack
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!IsCandidate(evidence, i, sites)) continue;
    const LiveBlock& block = evidence.blocks[i];
    const auto [reason, is_new] = reasons.try_emplace(block.stack);
    if (is_new) {
      Finding finding = sites.Of(block.stack).finding;
      finding.kind = block.kind;
      reason->second = suppressions.ReasonFor(finding);
    }
    if (reason->second.empty()) continue;
    BlockFacts& facts = evidence.facts[i];
    facts.disposition = Disposition::kAllowed;
    facts.allowance = kDefaultSuppressions;
    facts.explanation = reason->second;
    evidence.suppressed.insert(block.address);
  }
}

void AllowExpected(const RegionReader& region, std::uint32_t window, CallSites& sites,
                   WindowEvidence& evidence) {
  int left = kMostExpected;
  for (std::uint32_t id = 1; id < region.AllowanceCount() && left > 0; ++id) {
    const AllowanceCopy allowance = region.Allowance(id);
    if (allowance.kind != AllowanceKind::kExpected || allowance.window != window) continue;
    --left;
    Claims claims;
    Permit& permit = *AddPermit(allowance, claims);  // one alone has a short text
    for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
      if (IsCandidate(evidence, i, sites)) claims.Claim(i, permit, evidence.blocks[i]);
    }
    claims.Settle(evidence);
  }
}

}  // namespace leakgate
