#include "runner/judge/allowances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runner/attribution/stack_pattern.h"
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
  const bool is_of_a_test =
      allowance.id != 0 && region.Window(allowance.window).kind == WindowKind::kTest;
  if (!is_of_a_test || allowance.window == window) return "";
  return fmt::format(
      "the ScopedAllowance at {} allows nothing here: it began in an earlier test, and a scope "
      "ends with its test",
      PlaceOf(allowance));
}

// A block that allowances of budget files match.
struct Claimant {
  std::size_t index = 0;  // in the evidence
  Amount amount;
  const std::vector<Permit*>* permits = nullptr;  // the closest first
};

// Lets the allowances of budget files take blocks: each block asks the allowance that fits it
// closest; those that are refused ask the next one, and so on.
class Takings {
 public:
  Permit* Add(const AppliedAllowance& allowance) {
    Permit& permit =
        permits_[fmt::format("{} {}", PlaceOf(allowance), fmt::join(allowance.stack, "\n"))];
    Fill(allowance, permit);
    return &permit;
  }

  void Take(std::vector<Claimant> asking) {
    for (std::size_t round = 0; !asking.empty(); ++round) asking = TakeRound(asking, round);
  }

  void Settle(WindowEvidence& evidence) {
    const std::map<const Permit*, SharedText> exceeded = ListExceeded();
    for (const auto& [claimant, permit] : taken_) {
      BlockFacts& facts = evidence.facts[claimant.index];
      const auto found = exceeded.find(permit);
      if (found != exceeded.end()) {
        facts.explanation = found->second;
        continue;
      }
      facts.disposition = Disposition::kAllowed;
      facts.allowance = permit->place;
      facts.explanation = permit->reason;
    }
    for (const Claimant& claimant : left_over_) {
      evidence.facts[claimant.index].explanation = exceeded.at(claimant.permits->front());
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

  std::map<std::string, Permit> permits_;  // by place and patterns
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
  takings.Settle(evidence);
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
