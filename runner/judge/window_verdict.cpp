#include "runner/judge/window_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/code_owner.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

bool IsChargedTo(const Finding& finding, const WindowResult& window, const AppliedBudget& budget) {
  if (&budget == window.budget.get()) {
    return finding.component.empty() || finding.component == budget.component;
  }
  return finding.component == budget.component;
}

Amount Sum(const std::vector<const Finding*>& findings, bool (*wanted)(const Finding&)) {
  Amount sum;
  for (const Finding* finding : findings) {
    if (wanted(*finding)) sum += finding->amount;
  }
  return sum;
}

bool IsLostAndCounts(const Finding& finding) {
  return CountsLiterally(finding) && IsLost(finding.reach);
}
bool IsRetainedAndCounts(const Finding& finding) {
  return CountsLiterally(finding) && !IsLost(finding.reach);
}
bool IsSteady(const Finding& finding) { return finding.disposition == Disposition::kSteady; }

std::vector<const Finding*> Charged(const std::vector<Finding>& findings,
                                    const WindowResult& window, const AppliedBudget& budget) {
  std::vector<const Finding*> charged;
  for (const Finding& finding : findings) {
    if (IsUsers(finding) && IsChargedTo(finding, window, budget)) charged.push_back(&finding);
  }
  return charged;
}

std::vector<const Finding*> FindingsOf(const WindowResult& window, const AppliedBudget& budget) {
  return Charged(window.findings, window, budget);
}

Measured Measure(const WindowResult& window, const AppliedBudget& budget) {
  const std::vector<const Finding*> charged = FindingsOf(window, budget);
  Measured measured;
  measured.outstanding = Sum(charged, CountsLiterally);
  measured.lost = Sum(charged, IsLostAndCounts);
  measured.retained = Sum(charged, IsRetainedAndCounts);
  measured.mapped = Sum(Charged(window.mappings, window, budget), CountsLiterally);
  if (&budget != window.budget.get()) return measured;
  measured.growth = window.growth;
  measured.allocated = window.allocated;
  measured.peak_bytes = window.peak_live_bytes;
  measured.file_descriptors = window.file_descriptors;
  measured.threads = window.threads;
  return measured;
}

void AddDefault(std::string_view metric, Amount amount, const AppliedBudget& budget,
                std::vector<Violation>& violations) {
  const auto add = [&](std::string_view unit, std::int64_t actual) {
    if (actual == 0) return;
    violations.push_back(
        {fmt::format("{}_{}", metric, unit), actual, {}, budget.component, amount});
  };
  add("bytes", amount.bytes);
  add("blocks", amount.blocks);
}

void JudgeByDefault(const WindowResult& window, const AppliedBudget& budget,
                    std::vector<Violation>& violations) {
  const std::vector<const Finding*> charged = FindingsOf(window, budget);
  if (!IsLimited(budget.lost))
    AddDefault("lost", Sum(charged, IsLostAndCounts), budget, violations);
  if (!IsLimited(budget.retained)) AddDefault("steady", Sum(charged, IsSteady), budget, violations);
}

void JudgeBy(const AppliedBudget& budget, WindowResult& window) {
  for (Violation& violation : Judge(Measure(window, budget), budget)) {
    window.violations.push_back(std::move(violation));
  }
  if (UsesDefaultPolicy(budget)) JudgeByDefault(window, budget, window.violations);
}

bool IsGated(const WindowResult& window) {
  if (window.kind == WindowKind::kTest) return true;
  if (leakgate::IsGated(*window.budget)) return true;
  return std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [](const auto& budget) { return leakgate::IsGated(*budget); });
}

// Findings are known one by one; what is told by a number alone, by that number.
bool IsOfFindings(const Violation& violation) {
  return violation.metric.starts_with("outstanding_") || violation.metric.starts_with("lost_") ||
         violation.metric.starts_with("retained_") || violation.metric.starts_with("steady_");
}

void SetKnownViolationsApart(WindowResult& window) {
  window.known_violations.clear();
  std::erase_if(window.violations, [&](const Violation& violation) {
    const auto known = window.baseline_excess.find(violation.metric);
    const bool is_known = known != window.baseline_excess.end() && !IsOfFindings(violation) &&
                          violation.actual <= known->second;
    if (is_known) window.known_violations.push_back(violation);
    return is_known;
  });
}

std::string WhyUnconfirmed(const WindowResult& window) {
  for (const Finding& finding : window.findings) {
    const bool tells = IsToBeConfirmed(window, finding) && !finding.explanation.empty();
    if (!tells) continue;
    return fmt::format("{} retained by {}: {}", FormatAmount(finding.amount),
                       DescribeCallSite(finding), finding.explanation);
  }
  return "its retained blocks were not confirmed";
}

}  // namespace

// A block of nobody's code stays with the test's own component, if it has one.
const CodeCharges::Budget& CodeCharges::FindFor(const std::vector<Frame>& stack) {
  if (owners_.empty()) return own_;
  const BudgetFile* const owner = OwnerOf(owners_, stack);
  const bool is_nobodys = owner == nullptr || owner->component == kUnowned;
  if (owner == nullptr || (is_nobodys && !own_->component.empty())) return own_;
  Budget& budget = of_owner_[owner];
  if (budget == nullptr) {
    budget = std::make_shared<const AppliedBudget>(budgets_.ForCode(*owner, kind_, tests_));
  }
  return budget;
}

const CodeCharges::Budget& CodeCharges::Find(std::uint32_t stack) {
  const auto known = of_stack_.find(stack);
  if (known != of_stack_.end()) return known->second;
  return of_stack_.emplace(stack, FindFor(sites_.Of(stack).finding.stack)).first->second;
}

void CodeCharges::Charge(WindowResult& window) {
  window.code_budgets.clear();
  Charge(window.findings, window);
  Charge(window.mappings, window);
}

void CodeCharges::Charge(std::vector<Finding>& findings, WindowResult& window) {
  for (Finding& finding : findings) {
    const Budget& budget = FindFor(finding.stack);
    if (budget == own_) continue;
    finding.component = budget->component;
    const bool is_known = std::find(window.code_budgets.begin(), window.code_budgets.end(),
                                    budget) != window.code_budgets.end();
    if (!is_known) window.code_budgets.push_back(budget);
  }
}

bool IsToBeConfirmed(const WindowResult& window, const Finding& finding) {
  if (window.kind != WindowKind::kTest || finding.disposition != Disposition::kUnconfirmed) {
    return false;
  }
  if (IsChargedTo(finding, window, *window.budget)) {
    return UsesDefaultPolicy(*window.budget) && !IsLimited(window.budget->retained);
  }
  return std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [&](const auto& budget) {
                       return IsChargedTo(finding, window, *budget) && UsesDefaultPolicy(*budget) &&
                              !IsLimited(budget->retained);
                     });
}

void SumFindings(WindowResult& window) {
  window.outstanding = window.lost = window.retained = window.allowed = window.known =
      window.framework = window.mapped = {};
  for (const Finding& finding : window.findings) {
    if (!IsUsers(finding)) {
      window.framework += finding.amount;
      continue;
    }
    window.outstanding += finding.amount;
    if (IsLost(finding.reach)) window.lost += finding.amount;
    if (finding.reach == Reach::kRetained) window.retained += finding.amount;
    if (finding.disposition == Disposition::kAllowed) window.allowed += finding.amount;
    if (finding.disposition == Disposition::kKnown) window.known += finding.amount;
  }
  for (const Finding& finding : window.mappings) {
    if (IsUsers(finding) && CountsLiterally(finding)) window.mapped += finding.amount;
  }
}

void DecideVerdict(WindowResult& window) {
  SumFindings(window);
  window.violations.clear();
  window.reason.clear();
  JudgeBy(*window.budget, window);
  for (const auto& budget : window.code_budgets) JudgeBy(*budget, window);
  SetKnownViolationsApart(window);

  const bool is_open =
      std::any_of(window.findings.begin(), window.findings.end(),
                  [&](const Finding& finding) { return IsToBeConfirmed(window, finding); });
  if (!window.violations.empty() || CountNewFreeErrors(window) != 0) {
    window.verdict = Verdict::kOverBudget;
  } else if (is_open) {
    window.verdict = Verdict::kUnconfirmed;
    window.reason = WhyUnconfirmed(window);
  } else if (!IsGated(window)) {
    window.verdict = Verdict::kNotGated;
    window.reason = "no budget limits what it retains";
  } else {
    window.verdict = Verdict::kPass;
  }
}

}  // namespace leakgate
