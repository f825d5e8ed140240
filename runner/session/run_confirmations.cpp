#include "runner/session/run_confirmations.h"

#include <string_view>

#include "runner/base/signal_end.h"
#include "runner/judgement/window_verdict.h"

namespace leakgate {
namespace {

// Why what is open in `window` stays open.
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

// A test is repeated once, however many windows of it are open.
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
