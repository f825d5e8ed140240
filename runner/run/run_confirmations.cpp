#include "runner/run/run_confirmations.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "runner/attribution/call_sites.h"
#include "runner/base/signal_end.h"
#include "runner/base/time_limit.h"
#include "runner/judge/allowances.h"
#include "runner/judge/surviving_sites.h"
#include "runner/judge/window_verdict.h"
#include "runner/report/excess.h"
#include "runner/run/run_request.h"

namespace leakgate {
namespace {

// Sets `why` as the explanation of what stays unconfirmed in `window`.
void Explain(std::string_view why, WindowResult& window) {
  if (PassUntold(window)) DecideVerdict(window);
  if (window.verdict != Verdict::kUnconfirmed) return;
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (IsToBeConfirmed(window, finding)) finding.explanation = why;
    }
  }
  DecideVerdict(window);
}

// Returns whether it exceeds a limit on what it does, and what made it is not known yet.
bool NeedsExplanation(const WindowResult& window) {
  return window.verdict == Verdict::kOverBudget && window.made_by.empty() &&
         !ExceededActivities(window).empty();
}

bool MayBeExplained(const WindowResult& window) {
  return NeedsExplanation(window) && window.kind == WindowKind::kTest &&
         window.status != TestStatus::kCrashed;
}

// Once all has been repeated: what grows together is one finding, and what still fails may be
// allowed.
void ConcludeGrowth(WindowResult& window) {
  if (window.verdict != Verdict::kOverBudget) return;
  FoldFindings(Fold::kGrowing, window.findings);
  DecideByAllowances(window);
}

RepetitionSetup With(RepetitionSetup setup, std::function<bool()> is_cancelled) {
  setup.is_cancelled = std::move(is_cancelled);
  return setup;
}

}  // namespace

RunConfirmations::RunConfirmations(const RepetitionSetup& setup)
    : setup_(setup),
      inline_(With(setup, [this] { return has_ended_.load() || IsTimeUp(); }),
              setup.request.confirmation) {}

void RunConfirmations::ConfirmNow(WindowResult& window) {
  if (ConfirmOf(window) != Confirm::kInline) return;
  if (window.verdict == Verdict::kUnconfirmed) {
    inline_.Confirm(window);
    inline_.ConfirmInTime({&window});
    ConcludeGrowth(window);
  }
  if (MayBeExplained(window)) inline_.Explain(window);
}

void RunConfirmations::ConfirmAll(const std::string& why_not, RunResult& result) {
  EndSignalDeferral signals;
  const auto is_cancelled = [&] {
    was_interrupted_ = signals.WasAskedToEnd();
    return was_interrupted_ || IsTimeUp();
  };
  Confirmation after(With(setup_, is_cancelled), setup_.request.confirmation);
  if (why_not.empty()) FindDescriptors(after, result);
  std::set<std::string> open;
  std::set<std::string> begun;
  if (why_not.empty()) {
    const std::vector<const WindowResult*> windows = OpenWindows(result);
    std::chrono::nanoseconds once{};
    for (const WindowResult* const window : windows) {
      if (open.insert(window->name).second) once += window->end - window->begin;
    }
    after.ShareTime(once);
    after.PrepareTogether(windows);
    for (const WindowResult* const window : windows) {
      Tell(window->name, open.size(), begun);
      after.Prepare(*window);
    }
    after.RepeatLongTogether(windows);
  }
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
  if (why_not.empty()) {
    ConfirmSurviving(after, result);
    std::vector<WindowResult*> confirmed;
    for (WindowResult& window : result.windows) {
      if (open.contains(window.name)) confirmed.push_back(&window);
    }
    after.ConfirmInTime(confirmed);
  }
  for (WindowResult& window : result.windows) ConcludeGrowth(window);
  ExplainAll(after, why_not, result);
  result.confirming = inline_.spent() + after.spent();
}

void RunConfirmations::ExplainAll(Confirmation& after, const std::string& why_not,
                                  RunResult& result) const {
  std::set<std::string> tests;
  for (const WindowResult& window : result.windows) {
    if (NeedsExplanation(window)) tests.insert(window.name);
  }
  std::set<std::string> begun;
  for (WindowResult& window : result.windows) {
    if (!NeedsExplanation(window)) continue;
    if (!MayBeExplained(window)) {
      window.made_by = UnknownTopAllocators(
          window,
          window.kind == WindowKind::kTest
              ? "the test has ended the program"
              : "only tests are repeated; leakgate record and leakgate recording show tell it");
    } else if (ConfirmOf(window) == Confirm::kOff) {
      window.made_by = UnknownTopAllocators(window, "confirmation is off");
    } else if (!why_not.empty()) {
      window.made_by = UnknownTopAllocators(window, why_not);
    } else {
      Tell(window.name, tests.size(), begun);
      after.Explain(window);
      window.was_explained_later = true;
    }
  }
}

// A suite's end tells only that descriptors stay open.
void RunConfirmations::FindDescriptors(Confirmation& after, RunResult& result) const {
  for (std::size_t i = 0; i < result.windows.size(); ++i) {
    if (result.windows[i].kind != WindowKind::kSuite) continue;
    if (result.windows[i].descriptor_growth != DescriptorGrowth::kUnconfirmed) continue;
    std::map<std::string, WindowResult*> tests;
    std::vector<std::string> names;
    for (std::size_t k = i + 1; k < result.windows.size(); ++k) {
      WindowResult& test = result.windows[k];
      if (test.kind != WindowKind::kTest) break;
      const bool is_gated = LeavesDescriptorsToDefault(*test.budget) &&
                            ConfirmOf(test) != Confirm::kOff &&
                            test.verdict != Verdict::kInconclusive;
      if (is_gated && tests.emplace(test.name, &test).second) names.push_back(test.name);
    }
    for (const std::string& name : after.FindTestsWithDescriptors(names)) {
      const auto test = tests.find(name);
      if (test == tests.end()) continue;
      test->second->descriptor_growth = DescriptorGrowth::kUnconfirmed;
      DecideVerdict(*test->second);
    }
  }
}

// What one test keeps for itself alone, and others keep, too. The first such test is repeated for
// long: where it is the code that keeps some now and then, it fails.
void RunConfirmations::ConfirmSurviving(Confirmation& after, RunResult& result) const {
  const SurvivingSites sites = FindSurvivingSites(result.windows);
  if (sites.empty()) return;
  std::set<const std::vector<std::string>*> seen;
  for (WindowResult& window : result.windows) {
    bool has_changed = false;
    for (Finding& finding : window.findings) {
      const std::vector<std::string>* const tests = WhereItStays(finding, sites);
      if (tests == nullptr || window.kind != WindowKind::kTest) continue;
      has_changed = true;
      if (seen.insert(tests).second) after.ConfirmForLong(window, finding);
      if (finding.disposition != Disposition::kSteady) MarkSurviving(*tests, finding);
    }
    if (!has_changed) continue;
    SortFindings(window.findings);
    DecideVerdict(window);
  }
}

Confirm RunConfirmations::ConfirmOf(const WindowResult& window) const {
  return setup_.request.confirm.value_or(window.budget->confirm.value_or(Confirm::kAfter));
}

std::vector<const WindowResult*> RunConfirmations::OpenWindows(const RunResult& result) const {
  std::vector<const WindowResult*> windows;
  for (const WindowResult& window : result.windows) {
    const bool is_open = ConfirmOf(window) != Confirm::kOff && Confirmation::IsOpen(window);
    if (is_open) windows.push_back(&window);
  }
  return windows;
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
