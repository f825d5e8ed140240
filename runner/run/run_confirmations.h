// Which tests of one run are repeated, and when.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/run/confirmation.h"
#include "runner/run/repetition.h"

namespace leakgate {

// The confirmations of one run. They happen inline, while a test waits, or after the program has
// ended, as the command line and budget files say.
class RunConfirmations {
 public:
  // `is_cancelled` of `setup` is not used.
  explicit RunConfirmations(const RepetitionSetup& setup);

  // Confirms `window`, or explains what made it exceed its limits, if that is to happen inline.
  // Called on the judge's thread while the test waits.
  void ConfirmNow(WindowResult& window);

  // Interrupts the repetitions that ConfirmNow is running.
  void ProgramHasEnded() { has_ended_.store(true); }

  // Confirms all windows that are still open, and explains what exceeds its limits, unless
  // `why_not` says why no test can be repeated. Called on the main thread. A signal that asks the
  // runner to end only interrupts this, if the interruption does not take long.
  void ConfirmAll(const std::string& why_not, RunResult& result);

  bool was_interrupted() const { return was_interrupted_; }

 private:
  Confirm ConfirmOf(const WindowResult& window) const;
  void FindDescriptors(Confirmation& after, RunResult& result) const;
  void ExplainAll(Confirmation& after, const std::string& why_not, RunResult& result) const;
  void ConfirmSurviving(Confirmation& after, RunResult& result) const;
  std::vector<const WindowResult*> OpenWindows(const RunResult& result) const;
  void Tell(const std::string& test, std::size_t all, std::set<std::string>& begun) const;

  RepetitionSetup setup_;
  std::atomic<bool> has_ended_{false};
  bool was_interrupted_ = false;
  Confirmation inline_;
};

}  // namespace leakgate
