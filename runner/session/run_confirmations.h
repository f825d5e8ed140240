// The confirmations of one run: inline, while a test waits, or after the program
// has ended, as the command line and budget files say.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "runner/session/confirmation.h"

namespace leakgate {

class RunConfirmations {
 public:
  // `setup` without `is_cancelled`.
  explicit RunConfirmations(const RepetitionSetup& setup);

  // On the judge's thread, while the test waits; only where it is to be inline.
  void ConfirmNow(WindowResult& window);

  // Ends what ConfirmNow is at.
  void ProgramHasEnded() { has_ended_.store(true); }

  // On the main thread: all windows that are still open, unless `why_not` says why
  // none can be repeated. A signal to end the runner ends only this, if that does not take long.
  void ConfirmAll(const std::string& why_not, RunResult& result);

  bool was_interrupted() const { return was_interrupted_; }

 private:
  Confirm ConfirmOf(const WindowResult& window) const;
  std::set<std::string> OpenTests(const RunResult& result) const;
  void Tell(const std::string& test, std::size_t all, std::set<std::string>& begun) const;

  RepetitionSetup setup_;
  std::atomic<bool> has_ended_{false};
  bool was_interrupted_ = false;
  Confirmation inline_;
};

}  // namespace leakgate
