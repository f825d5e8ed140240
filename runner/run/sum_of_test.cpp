#include "runner/run/sum_of_test.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/framework_rules.h"
#include "runner/attribution/leak_identity.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/judge/baseline.h"
#include "runner/judge/code_charges.h"
#include "runner/judge/window_verdict.h"
#include "runner/run/series_verdict.h"

namespace leakgate {
namespace {

// What decides whether a call site counts; it lives as long as it is asked.
struct SumScope {
  SumScope(const RepetitionSetup& setup, const WindowResult& window)
      : charges(setup.prepared.budgets, window.kind, {window.name}, window.budget, unused) {}

  CallSites unused{[](std::uint32_t) { return ResolvedStack{}; }};
  CodeCharges charges;
  std::set<std::string> excused;             // by CallStackKey
  const BaselineWindow* baseline = nullptr;  // null: it has nothing of the test
};

// What the suite's run has lost fails by that, and each repetition loses it again. What another
// test frees, as one that takes from a queue, stays where the test is repeated alone.
bool IsToldAnyway(const Finding& finding) {
  return IsLost(finding.reach) || finding.disposition == Disposition::kAllowed ||
         finding.disposition == Disposition::kReleasedLater ||
         finding.disposition == Disposition::kKnown ||
         finding.disposition == Disposition::kOtherThread;
}

bool Counts(SumScope& scope, const Finding& site) {
  if (IsOfEventListener(site.stack)) return false;
  const AppliedBudget& budget = scope.charges.BudgetOf(site.stack);
  if (!LeavesGrowthToDefault(budget, AllocationKind::kMalloc)) return false;
  if (budget.thread_scope == ThreadScope::kTest) return false;
  if (!FindAllowances(budget.allowances, site).empty()) return false;
  const bool is_known =
      scope.baseline != nullptr && scope.baseline->blocks.contains(SymbolicPath(site.stack));
  return !is_known && !scope.excused.contains(CallStackKey(site));
}

bool IsJudgedByGrowth(const Finding& finding) {
  if (!IsUsers(finding) || IsLost(finding.reach)) return false;
  return finding.disposition == Disposition::kOneTime ||
         finding.disposition == Disposition::kBounded ||
         finding.disposition == Disposition::kUnconfirmed ||
         finding.disposition == Disposition::kReplaced;
}

// Returns the largest finding of the share's call site; null if the suite's run left none.
Finding* FindFinding(const GrowthShare& share, WindowResult& window) {
  for (Finding& finding : window.findings) {
    if (IsJudgedByGrowth(finding) && SeriesKey(finding) == share.site) return &finding;
  }
  return nullptr;
}

bool HasAny(const WindowResult& window, Disposition disposition) {
  return std::any_of(window.findings.begin(), window.findings.end(),
                     [&](const Finding& finding) { return finding.disposition == disposition; });
}

// Judges the finding of the share's call site, which is added where there is none, by `judged`.
void ApplyToShare(const RepetitionSetup& setup, const GrowthShare& share,
                  const JudgedSeries& judged, SeriesLength length, const std::string& explanation,
                  WindowResult& window) {
  Finding* finding = FindFinding(share, window);
  const bool is_new = finding == nullptr;
  if (is_new) {
    finding = &window.findings.emplace_back(FindingOf(share, judged.series));
    if (setup.request.baseline != nullptr) finding->baseline = BaselineState::kNew;
  }
  ApplySeries(judged, length, *finding);
  if (!explanation.empty()) finding->explanation = explanation;
  if (is_new) finding->explanation += "; the suite's run left none of it";
}

}  // namespace

CountsInSum CountsFor(const RepetitionSetup& setup, const WindowResult& window) {
  if (window.kind != WindowKind::kTest) return nullptr;
  const auto scope = std::make_shared<SumScope>(setup, window);
  for (const Finding& finding : window.findings) {
    if (IsToldAnyway(finding)) scope->excused.insert(CallStackKey(finding));
  }
  if (setup.request.baseline != nullptr) {
    scope->baseline = setup.request.baseline->find(WindowIdentity(window.kind, window.name));
  }
  return [scope](const Finding& site) { return Counts(*scope, site); };
}

void ApplySum(const RepetitionSetup& setup, const AllGrowth& all, SeriesLength length,
              WindowResult& window) {
  const JudgedSeries sum = JudgeSum(all, length);
  const bool is_told = sum.growth == Growth::kNone || sum.growth == Growth::kBounded;
  if (is_told || all.shares.empty() || HasAny(window, Disposition::kSteady)) return;
  const bool grows = sum.growth == Growth::kSteady && length != SeriesLength::kShort;
  if (!grows && HasAny(window, Disposition::kUnconfirmed)) return;
  // What call sites show by themselves is told of each; else the sum is told of the largest.
  bool is_explained = false;
  constexpr std::size_t kMostAdded = 5;
  for (std::size_t i = 0; grows && i < std::min(all.shares.size(), kMostAdded); ++i) {
    const GrowthShare& share = all.shares[i];
    const Growth growth = ClassifyGrowth(share.series, length);
    if (growth != Growth::kSteady) continue;
    ApplyToShare(setup, share, {growth, share.series, true}, length, "", window);
    is_explained = true;
  }
  if (!is_explained) {
    JudgedSeries judged = sum;
    if (!grows) judged.growth = Growth::kIrregular;
    ApplyToShare(setup, all.shares.front(), judged, length, ExplainSum(all), window);
  }
  SumScope(setup, window).charges.Charge(window);
}

}  // namespace leakgate
