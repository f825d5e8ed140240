#include "runner/session/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/group_findings.h"
#include "runner/judgement/repetition_series.h"
#include "runner/judgement/window_verdict.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 6;
constexpr int kMoreRepetitions = 20;

std::set<std::string> OpenCallSites(const WindowResult& window) {
  std::set<std::string> keys;
  for (const Finding& finding : window.findings) {
    if (IsToBeConfirmed(window, finding)) keys.insert(CallSiteKey(finding));
  }
  return keys;
}

bool IsIrregular(const RepetitionResult& result) {
  return result.problem.empty() &&
         std::any_of(result.series.begin(), result.series.end(), [](const auto& site) {
           return ClassifyGrowth(site.second) == Growth::kIrregular;
         });
}

Disposition DispositionOf(Growth growth) {
  switch (growth) {
    case Growth::kNone:
      return Disposition::kOneTime;
    case Growth::kBounded:
      return Disposition::kBounded;
    case Growth::kSteady:
      return Disposition::kSteady;
    case Growth::kIrregular:
      break;
  }
  return Disposition::kUnconfirmed;
}

void Apply(const RepetitionResult& result, bool is_long, Finding& finding) {
  if (!result.problem.empty()) {
    finding.explanation = result.problem;
    return;
  }
  const auto site = result.series.find(CallSiteKey(finding));
  if (site != result.series.end()) return ApplySeries(site->second, is_long, finding);
  finding.explanation = "run alone, the test leaves nothing of this call site";
}

}  // namespace

void ApplySeries(const std::vector<std::int64_t>& series, bool is_long, Finding& finding) {
  finding.series = series;
  const Growth growth = is_long ? ClassifyLongGrowth(series) : ClassifyGrowth(series);
  finding.disposition = DispositionOf(growth);
  finding.explanation.clear();
  const bool has_passed = growth == Growth::kNone || growth == Growth::kBounded;
  if (has_passed && finding.reach == Reach::kUnknown) {
    finding.disposition = Disposition::kUnconfirmed;
    finding.explanation = "repeated, it does not grow, but it may be lost: that could not be told";
  }
  if (growth == Growth::kIrregular) finding.explanation = "it grows, but not regularly";
}

RepetitionResult Confirmation::RepeatFor(const WindowResult& window,
                                         const std::set<std::string>& call_sites, int repetitions) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(limits_.run - spent_);
  if (left <= milliseconds(0)) return {"no time was left to repeat it (--confirm-run-timeout)", {}};
  if (setup_.is_cancelled()) return {"its repetitions were interrupted", {}};
  // What the runner lacks to repeat a test (descriptors, threads, memory) is said of
  // that test, and does not end the run.
  try {
    return Repeat(setup_, {.test = window.name,
                           .repetitions = repetitions,
                           .timeout = std::min(limits_.test, left),
                           .call_sites = call_sites,
                           .may_fail = window.status != TestStatus::kPassed});
  } catch (const std::exception& error) {
    return {fmt::format("it could not be repeated: {}", error.what()), {}};
  }
}

Confirmation::Outcome Confirmation::Ask(const WindowResult& window,
                                        const std::set<std::string>& call_sites) {
  Outcome outcome{call_sites, RepeatFor(window, call_sites, kRepetitions)};
  if (!IsIrregular(outcome.result)) return outcome;
  return {call_sites, RepeatFor(window, call_sites, kMoreRepetitions), true};
}

const Confirmation::Outcome& Confirmation::OutcomeOf(const WindowResult& window,
                                                     const std::set<std::string>& call_sites) {
  const auto known = outcomes_.find(window.name);
  const bool is_answered = known != outcomes_.end() &&
                           std::includes(known->second.asked.begin(), known->second.asked.end(),
                                         call_sites.begin(), call_sites.end());
  if (is_answered) return known->second;
  const Clock::time_point begin = Clock::now();
  Outcome outcome = Ask(window, call_sites);
  spent_ += Clock::now() - begin;
  return outcomes_.insert_or_assign(window.name, std::move(outcome)).first->second;
}

bool Confirmation::IsOpen(const WindowResult& window) {
  const bool may_be =
      window.verdict == Verdict::kUnconfirmed || window.verdict == Verdict::kOverBudget;
  return may_be && !OpenCallSites(window).empty();
}

void Confirmation::Confirm(WindowResult& window) {
  if (!IsOpen(window)) return;
  const std::set<std::string> call_sites = OpenCallSites(window);
  const Outcome& outcome = OutcomeOf(window, call_sites);
  for (Finding& finding : window.findings) {
    if (IsToBeConfirmed(window, finding)) Apply(outcome.result, outcome.is_long, finding);
  }
  SortFindings(window.findings);
  DecideVerdict(window);
}

}  // namespace leakgate
