#include "runner/session/run_confirmations.h"

#include <string_view>

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

void RunConfirmations::ConfirmAll(const BlockedSignals& signals, const std::string& why_not,
                                  RunResult& result) {
  Confirmation after(With(setup_, [&] { return IsInterrupted(signals); }),
                     setup_.request.confirmation);
  for (WindowResult& window : result.windows) {
    if (ConfirmOf(window) == Confirm::kOff) {
      Explain("confirmation is off", window);
    } else if (!why_not.empty()) {
      Explain(why_not, window);
    } else {
      after.Confirm(window);
    }
  }
  result.confirming = inline_.spent() + after.spent();
}

Confirm RunConfirmations::ConfirmOf(const WindowResult& window) const {
  return setup_.request.confirm.value_or(window.budget->confirm.value_or(Confirm::kAfter));
}

bool RunConfirmations::IsInterrupted(const BlockedSignals& signals) {
  while (const std::optional<siginfo_t> signal = signals.Take(std::chrono::milliseconds(0))) {
    was_interrupted_ = was_interrupted_ || AsksToEnd(signal->si_signo);
  }
  return was_interrupted_;
}

}  // namespace leakgate
