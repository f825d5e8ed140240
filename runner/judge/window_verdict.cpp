#include "runner/judge/window_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "runner/attribution/call_sites.h"
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

Measured Measure(const WindowResult& window, const AppliedBudget& budget) {
  const std::vector<const Finding*> charged = Charged(window.findings, window, budget);
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
  const std::vector<const Finding*> charged = Charged(window.findings, window, budget);
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
  switch (QuantityOf(violation.metric)) {
    case Quantity::kOutstanding:
    case Quantity::kLost:
    case Quantity::kRetained:
    case Quantity::kSteady:
    case Quantity::kMapped:
    case Quantity::kSteadyMapped:
    case Quantity::kSteadyThreads:
      return true;
    default:
      return false;
  }
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

// All of it, with the first call site and its reason.
std::string WhyUnconfirmed(const WindowResult& window) {
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    const Finding* first = nullptr;
    Amount amount;
    std::set<std::string> sites;
    for (const Finding& finding : *findings) {
      if (!IsToBeConfirmed(window, finding)) continue;
      if (first == nullptr && !finding.explanation.empty()) first = &finding;
      amount += finding.amount;
      sites.insert(CallSiteKey(finding));
    }
    if (first == nullptr) continue;
    const auto others = static_cast<std::int64_t>(sites.size()) - 1;
    return fmt::format("{} retained by {}{}: {}",
                       findings == &window.findings ? FormatAmount(amount) : FormatMapped(amount),
                       DescribeCallSite(*first),
                       others > 0 ? " and " + FormatCount(others, "more call site") : "",
                       first->explanation);
  }
  if (AnyToBeConfirmed(window, window.findings)) return "its retained blocks were not confirmed";
  return AnyToBeConfirmed(window, window.mappings) ? "its retained mappings were not confirmed"
                                                   : "its open descriptors were not confirmed";
}

// Returns whether `is_so` is true of a budget that the finding is charged to.
template <typename IsSo>
bool IsSoOfItsBudget(const WindowResult& window, const Finding& finding, IsSo is_so) {
  if (IsChargedTo(finding, window, *window.budget)) return is_so(*window.budget);
  return std::any_of(
      window.code_budgets.begin(), window.code_budgets.end(),
      [&](const auto& budget) { return IsChargedTo(finding, window, *budget) && is_so(*budget); });
}

// Returns whether a limit depends on whether a block is lost, and no look at the process told that.
bool MayHaveLost(const WindowResult& window) {
  if (window.reach_problem.empty()) return false;
  return std::any_of(window.findings.begin(), window.findings.end(), [&](const Finding& finding) {
    return IsUsers(finding) && CountsLiterally(finding) && !IsSteady(finding) &&
           finding.reach == Reach::kUnknown && IsSoOfItsBudget(window, finding, AsksForReach);
  });
}

// Returns the same where the process ended before anybody could look.
bool MayHaveLostAtEnd(const WindowResult& window) {
  if (window.doubts.losses.empty() || !AsksForReach(*window.budget)) return false;
  return std::any_of(window.findings.begin(), window.findings.end(), [](const Finding& finding) {
    return IsUsers(finding) && finding.disposition == Disposition::kOutstanding;
  });
}

std::string LossText(const std::string& why) {
  return fmt::format("what it lost could not be told: {}", why);
}

void FindViolations(WindowResult& window) {
  window.violations.clear();
  if (!window.doubts.unjudged.empty()) return;
  JudgeBy(*window.budget, window);
  for (const auto& budget : window.code_budgets) JudgeBy(*budget, window);
  JudgeDescriptors(window);
  SetKnownViolationsApart(window);
  ForgetExcused(window);
}

struct Decision {
  Verdict verdict = Verdict::kPass;
  std::string reason{};
};

// `run_doubt` is null as long as more may be found out.
Decision Decide(const WindowResult& window, const std::string* run_doubt) {
  const VerdictDoubts& doubts = window.doubts;
  if (!doubts.unjudged.empty()) return {Verdict::kInconclusive, doubts.unjudged};
  const bool waits = doubts.may_free_later && CountNewFreeErrors(window) == 0;
  if (IsOver(window) && !waits) return {Verdict::kOverBudget};
  if (run_doubt != nullptr && MayHaveLost(window)) {
    return {Verdict::kInconclusive, LossText(window.reach_problem)};
  }
  if (IsOver(window)) {
    return {Verdict::kUnconfirmed,
            "what it left behind may be freed later, and the program did not get that far"};
  }
  if (AwaitsRepetition(window)) return {Verdict::kUnconfirmed, WhyUnconfirmed(window)};
  if (MayHaveLostAtEnd(window) && doubts.has_executed) {
    return {Verdict::kNotGated,
            "it executed another program in its place, and so had no end of its own"};
  }
  if (MayHaveLostAtEnd(window)) return {Verdict::kInconclusive, LossText(doubts.losses)};
  if (!IsGated(window)) return {Verdict::kNotGated, "no budget limits what it retains"};
  if (run_doubt != nullptr && !run_doubt->empty()) return {Verdict::kInconclusive, *run_doubt};
  return {Verdict::kPass};
}

// Of what has no end, only a freeing error is certain: it may be why the program ended.
void WithdrawUnended(WindowResult& window) {
  window.violations.clear();
  if (CountNewFreeErrors(window) != 0) return;
  window.reason = window.kind == WindowKind::kTest ? "the program ended while the test ran"
                                                   : "the program was killed";
  if (window.verdict != Verdict::kNotGated) window.verdict = Verdict::kInconclusive;
}

void DecideBy(const std::string* run_doubt, WindowResult& window) {
  FoldFindings(Fold::kLost, window.findings);
  SumFindings(window);
  FindViolations(window);
  Decision decision = Decide(window, run_doubt);
  window.verdict = decision.verdict;
  window.reason = std::move(decision.reason);
  if (window.doubts.has_not_ended) WithdrawUnended(window);
}

}  // namespace

bool LeavesGrowthToDefault(const AppliedBudget& budget, AllocationKind kind) {
  if (!UsesDefaultPolicy(budget)) return false;
  if (!IsMapped(kind)) return !IsLimited(budget.retained);
  if (kind == AllocationKind::kThreadStack && budget.threads) return false;
  return !IsLimited(budget.mapped);
}

bool LeavesDescriptorsToDefault(const AppliedBudget& budget) {
  return UsesDefaultPolicy(budget) && !budget.file_descriptors;
}

bool IsToBeConfirmed(const WindowResult& window, const Finding& finding) {
  return window.kind == WindowKind::kTest && finding.disposition == Disposition::kUnconfirmed &&
         IsSoOfItsBudget(window, finding, [&](const AppliedBudget& budget) {
           return LeavesGrowthToDefault(budget, finding.kind);
         });
}

bool AwaitsRepetition(const WindowResult& window) {
  const bool are_descriptors_open = window.kind == WindowKind::kTest &&
                                    window.descriptor_growth == DescriptorGrowth::kUnconfirmed;
  return are_descriptors_open || AnyToBeConfirmed(window, window.findings) ||
         AnyToBeConfirmed(window, window.mappings);
}

bool AsksForReach(const AppliedBudget& budget) {
  return UsesDefaultPolicy(budget) || IsLimited(budget.lost) || IsLimited(budget.retained);
}

bool IsOver(const WindowResult& window) {
  return !window.violations.empty() || CountNewFreeErrors(window) != 0;
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

void DecideVerdict(WindowResult& window) { DecideBy(nullptr, window); }

// What fails, fails whatever is in doubt.
void ConcludeVerdict(const std::string& run_doubt, WindowResult& window) {
  const bool is_certain =
      window.verdict == Verdict::kOverBudget || window.verdict == Verdict::kInconclusive;
  if (!is_certain) DecideBy(&run_doubt, window);
}

bool PassUntold(WindowResult& window) {
  if (window.kind != WindowKind::kTest) return false;
  bool has_any = window.descriptor_growth == DescriptorGrowth::kUnconfirmed;
  if (has_any) window.descriptor_growth = DescriptorGrowth::kNone;
  for (Finding& finding : window.mappings) {
    if (!IsThreadStack(finding) || finding.disposition != Disposition::kUnconfirmed) continue;
    finding.disposition = Disposition::kOutstanding;
    has_any = true;
  }
  return has_any;
}

}  // namespace leakgate
