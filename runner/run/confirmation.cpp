#include "runner/run/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>

#include "runner/attribution/call_sites.h"
#include "runner/base/signal_end.h"
#include "runner/judge/repetition_series.h"
#include "runner/judge/window_verdict.h"
#include "runner/run/run_request.h"

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
  // If the runner lacks descriptors, threads or memory to repeat the test, the test says so and the
  // run goes on.
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

Confirmation::Outcome Confirmation::RepeatTest(const WindowResult& window,
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
  Outcome outcome = RepeatTest(window, call_sites);
  spent_ += Clock::now() - begin;
  return outcomes_.insert_or_assign(window.name, std::move(outcome)).first->second;
}

bool Confirmation::IsOpen(const WindowResult& window) {
  const bool may_be =
      window.verdict == Verdict::kUnconfirmed || window.verdict == Verdict::kOverBudget;
  // A test that has ended the program once is not repeated.
  return may_be && window.status != TestStatus::kCrashed && !OpenCallSites(window).empty();
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

namespace {

// Sets `why` as the explanation of what stays unconfirmed in `window`.
void Explain(std::string_view why, WindowResult& window) {
  if (window.verdict != Verdict::kUnconfirmed) return;
  for (Finding& finding : window.findings) {
    if (IsToBeConfirmed(window, finding)) finding.explanation = why;
  }
  DecideVerdict(window);
}

RepetitionSetup With(RepetitionSetup setup, std::function<bool()> is_cancelled) {
  setup.is_cancelled = std::move(is_cancelled);
  return setup;
}

}  // namespace

RunConfirmations::RunConfirmations(const RepetitionSetup& setup)
    : setup_(setup),
      inline_(With(setup, [this] { return has_ended_.load(); }), setup.request.confirmation) {}

void RunConfirmations::ConfirmNow(WindowResult& window) {
  if (ConfirmOf(window) == Confirm::kInline) inline_.Confirm(window);
}

void RunConfirmations::ConfirmAll(const std::string& why_not, RunResult& result) {
  EndSignalDeferral signals;
  const std::set<std::string> open = why_not.empty() ? OpenTests(result) : std::set<std::string>();
  std::set<std::string> begun;
  Confirmation after(With(setup_, [&] { return was_interrupted_ = signals.WasAskedToEnd(); }),
                     setup_.request.confirmation);
  for (WindowResult& window : result.windows) {
    if (ConfirmOf(window) == Confirm::kOff) {
      Explain("confirmation is off", window);
    } else if (!why_not.empty()) {
      Explain(why_not, window);
    } else {
      if (open.contains(window.name)) Tell(window.name, open.size(), begun);
      after.Confirm(window);
    }
  }
  result.confirming = inline_.spent() + after.spent();
}

Confirm RunConfirmations::ConfirmOf(const WindowResult& window) const {
  return setup_.request.confirm.value_or(window.budget->confirm.value_or(Confirm::kAfter));
}

std::set<std::string> RunConfirmations::OpenTests(const RunResult& result) const {
  std::set<std::string> tests;
  for (const WindowResult& window : result.windows) {
    if (ConfirmOf(window) != Confirm::kOff && Confirmation::IsOpen(window)) {
      tests.insert(window.name);
    }
  }
  return tests;
}

void RunConfirmations::Tell(const std::string& test, std::size_t all,
                            std::set<std::string>& begun) const {
  begun.insert(test);
  if (setup_.request.progress == nullptr) return;
  setup_.request.progress->Tell({.stage = ProgressStage::kConfirming,
                                 .done = static_cast<std::int64_t>(begun.size()),
                                 .all = static_cast<std::int64_t>(all),
                                 .current = test});
}

}  // namespace leakgate
