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
bool IsThreadStack(const Finding& finding) { return finding.kind == AllocationKind::kThreadStack; }
bool IsSteadyMapping(const Finding& finding) {
  return IsSteady(finding) && !IsThreadStack(finding);
}
bool IsSteadyThread(const Finding& finding) { return IsSteady(finding) && IsThreadStack(finding); }

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
  measured.temporary = window.temporary;
  measured.peak_bytes = window.peak_live_bytes;
  measured.file_descriptors = window.file_descriptors;
  measured.threads = window.threads;
  return measured;
}

void AddDefault(Quantity quantity, Amount amount, const AppliedBudget& budget,
                std::vector<Violation>& violations) {
  const auto add = [&](MetricUnit unit, std::int64_t actual) {
    if (actual == 0) return;
    violations.push_back({MetricOf(quantity, unit), actual, {}, budget.component, amount});
  };
  add(MetricUnit::kBytes, amount.bytes);
  add(MetricUnit::kBlocks, amount.blocks);
}

void JudgeByDefault(const WindowResult& window, const AppliedBudget& budget,
                    std::vector<Violation>& violations) {
  const std::vector<const Finding*> charged = FindingsOf(window, budget);
  if (!IsLimited(budget.lost))
    AddDefault(Quantity::kLost, Sum(charged, IsLostAndCounts), budget, violations);
  if (!IsLimited(budget.retained))
    AddDefault(Quantity::kSteady, Sum(charged, IsSteady), budget, violations);
  // Only what no limit is set for has been repeated.
  const std::vector<const Finding*> mapped = Charged(window.mappings, window, budget);
  AddDefault(Quantity::kSteadyMapped, Sum(mapped, IsSteadyMapping), budget, violations);
  const Amount threads = Sum(mapped, IsSteadyThread);
  if (threads.blocks != 0)
    violations.push_back({Metric::kSteadyThreads, threads.blocks, {}, budget.component, threads});
}

void JudgeDescriptors(WindowResult& window) {
  if (window.descriptor_growth != DescriptorGrowth::kGrows) return;
  window.violations.push_back({Metric::kSteadyFileDescriptors,
                               window.file_descriptors.value_or(1),
                               {},
                               window.budget->component,
                               {}});
}

void JudgeBy(const AppliedBudget& budget, WindowResult& window) {
  for (Violation& violation : Judge(Measure(window, budget), budget)) {
    window.violations.push_back(std::move(violation));
  }
  if (UsesDefaultPolicy(budget)) JudgeByDefault(window, budget, window.violations);
}

bool IsGated(const WindowResult& window) {
  if (window.kind == WindowKind::kTest) return true;
  // By what it lost.
  if (window.kind == WindowKind::kProgram && UsesDefaultPolicy(*window.budget)) return true;
  if (leakgate::IsGated(*window.budget)) return true;
  return std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [](const auto& budget) { return leakgate::IsGated(*budget); });
}

// Findings are known one by one; what is told by a number alone, by that number.
bool IsOfFindings(const Violation& violation) {
  const Quantity quantity = QuantityOf(violation.metric);
  return quantity == Quantity::kOutstanding || quantity == Quantity::kLost ||
         quantity == Quantity::kRetained || quantity == Quantity::kSteady;
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

// What a repetition has shown to be within its limits, without what is GoogleTest's own.
void ForgetExcused(WindowResult& window) {
  for (const TopAllocators& top : window.made_by) {
    if (!top.is_within_limits) continue;
    std::erase_if(window.violations, [&](const Violation& violation) {
      return QuantityOf(violation.metric) == top.quantity;
    });
  }
}

bool AnyToBeConfirmed(const WindowResult& window, const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return IsToBeConfirmed(window, finding); });
}

std::string WhyUnconfirmed(const WindowResult& window) {
  for (const Finding& finding : window.findings) {
    const bool tells = IsToBeConfirmed(window, finding) && !finding.explanation.empty();
    if (!tells) continue;
    return fmt::format("{} retained by {}: {}", FormatAmount(finding.amount),
                       DescribeCallSite(finding), finding.explanation);
  }
  for (const Finding& finding : window.mappings) {
    const bool tells = IsToBeConfirmed(window, finding) && !finding.explanation.empty();
    if (!tells) continue;
    return fmt::format("{} retained by {}: {}", FormatMapped(finding.amount),
                       DescribeCallSite(finding), finding.explanation);
  }
  if (AnyToBeConfirmed(window, window.findings)) return "its retained blocks were not confirmed";
  return AnyToBeConfirmed(window, window.mappings) ? "its retained mappings were not confirmed"
                                                   : "its open descriptors were not confirmed";
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
  if (owners_.empty()) return own_;
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

bool LeavesGrowthToDefault(const AppliedBudget& budget, AllocationKind kind) {
  if (!UsesDefaultPolicy(budget)) return false;
  if (kind < AllocationKind::kMapped) return !IsLimited(budget.retained);
  if (kind == AllocationKind::kThreadStack && budget.threads) return false;
  return !IsLimited(budget.mapped);
}

bool LeavesDescriptorsToDefault(const AppliedBudget& budget) {
  return UsesDefaultPolicy(budget) && !budget.file_descriptors;
}

bool IsToBeConfirmed(const WindowResult& window, const Finding& finding) {
  if (window.kind != WindowKind::kTest || finding.disposition != Disposition::kUnconfirmed) {
    return false;
  }
  if (IsChargedTo(finding, window, *window.budget)) {
    return LeavesGrowthToDefault(*window.budget, finding.kind);
  }
  return std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [&](const auto& budget) {
                       return IsChargedTo(finding, window, *budget) &&
                              LeavesGrowthToDefault(*budget, finding.kind);
                     });
}

bool AsksForReach(const AppliedBudget& budget) {
  return UsesDefaultPolicy(budget) || IsLimited(budget.lost) || IsLimited(budget.retained);
}

namespace {

bool MayBeLost(const Finding& finding, const WindowResult& window) {
  const bool is_untold = IsUsers(finding) && CountsLiterally(finding) &&
                         finding.disposition != Disposition::kSteady &&
                         finding.reach == Reach::kUnknown;
  if (!is_untold) return false;
  if (IsChargedTo(finding, window, *window.budget)) return AsksForReach(*window.budget);
  return std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [&](const auto& budget) {
                       return IsChargedTo(finding, window, *budget) && AsksForReach(*budget);
                     });
}

}  // namespace

void RefuseUntold(WindowResult& window) {
  const bool would_pass = window.verdict == Verdict::kPass ||
                          window.verdict == Verdict::kUnconfirmed ||
                          window.verdict == Verdict::kNotGated;
  if (!would_pass || window.reach_problem.empty()) return;
  const bool may_have_lost =
      std::any_of(window.findings.begin(), window.findings.end(),
                  [&](const Finding& finding) { return MayBeLost(finding, window); });
  if (!may_have_lost) return;
  window.verdict = Verdict::kInconclusive;
  window.reason = fmt::format("what it lost could not be told: {}", window.reach_problem);
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
  JudgeDescriptors(window);
  SetKnownViolationsApart(window);
  ForgetExcused(window);

  const bool is_open = AnyToBeConfirmed(window, window.findings) ||
                       AnyToBeConfirmed(window, window.mappings) ||
                       (window.kind == WindowKind::kTest &&
                        window.descriptor_growth == DescriptorGrowth::kUnconfirmed);
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

void PassUntold(WindowResult& window) {
  if (window.kind != WindowKind::kTest) return;
  bool has_changed = false;
  if (window.descriptor_growth == DescriptorGrowth::kUnconfirmed) {
    window.descriptor_growth = DescriptorGrowth::kNone;
    has_changed = true;
  }
  for (Finding& finding : window.mappings) {
    if (finding.kind != AllocationKind::kThreadStack) continue;
    if (finding.disposition != Disposition::kUnconfirmed) continue;
    finding.disposition = Disposition::kOutstanding;
    has_changed = true;
  }
  if (has_changed && window.verdict != Verdict::kInconclusive) DecideVerdict(window);
}

}  // namespace leakgate
