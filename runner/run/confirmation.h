// Confirms what tests have retained, by repeating each alone: one-time
// initialisation and bounded caches pass, what grows each time fails.
//
// What cannot be repeated (the test hangs, aborts, fails when alone, or does not
// run) stays unconfirmed and says why. A test is repeated once, however often it
// ran.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/run/repetition.h"

namespace leakgate {

class Confirmation {
 public:
  // `run_timeout`: for all repetitions together.
  Confirmation(RepetitionSetup setup, const ConfirmationLimits& limits)
      : setup_(std::move(setup)), limits_(limits) {}

  // Whether Confirm would.
  [[nodiscard]] static bool IsOpen(const WindowResult& window);

  // Repeats the window's test, and decides its verdict anew. A window whose
  // verdict is not open is left alone.
  void Confirm(WindowResult& window);

  // Time spent repeating.
  std::chrono::nanoseconds spent() const { return spent_; }

 private:
  // What the repetitions of one test said.
  struct Outcome {
    std::set<std::string> asked;  // call sites
    RepetitionResult result;
    bool is_long = false;
  };

  const Outcome& OutcomeOf(const WindowResult& window, const std::set<std::string>& call_sites);
  Outcome Ask(const WindowResult& window, const std::set<std::string>& call_sites);
  RepetitionResult RepeatFor(const WindowResult& window, const std::set<std::string>& call_sites,
                             int repetitions);

  RepetitionSetup setup_;
  ConfirmationLimits limits_;
  std::map<std::string, Outcome> outcomes_;  // by test
  std::chrono::nanoseconds spent_{};
};

// What a series says of a finding. Pure.
void ApplySeries(const std::vector<std::int64_t>& series, bool is_long, Finding& finding);

// The confirmations of one run: inline, while a test waits, or after the program
// has ended, as the command line and budget files say.
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
