// Confirms what tests have retained by repeating each test alone. One-time initialisation and
// bounded caches pass; what grows each time fails.
//
// A test that cannot be repeated (it hangs, aborts, fails when alone, or does not run) stays
// unconfirmed and its findings say why. Each test is repeated once, however often it ran.
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
  Confirmation(RepetitionSetup setup, const ConfirmationLimits& limits)
      : setup_(std::move(setup)), limits_(limits) {}

  // Returns whether Confirm would repeat the window's test.
  [[nodiscard]] static bool IsOpen(const WindowResult& window);

  // Repeats the window's test and decides its verdict anew. Does nothing unless IsOpen.
  void Confirm(WindowResult& window);

  // The time spent on repetitions.
  std::chrono::nanoseconds spent() const { return spent_; }

 private:
  // The result of one test's repetitions.
  struct Outcome {
    std::set<std::string> asked;  // the call sites that were counted
    RepetitionResult result;
    bool is_long = false;
  };

  const Outcome& OutcomeOf(const WindowResult& window, const std::set<std::string>& call_sites);
  Outcome RepeatTest(const WindowResult& window, const std::set<std::string>& call_sites);
  RepetitionResult RepeatFor(const WindowResult& window, const std::set<std::string>& call_sites,
                             int repetitions);

  RepetitionSetup setup_;
  ConfirmationLimits limits_;
  std::map<std::string, Outcome> outcomes_;  // by test
  std::chrono::nanoseconds spent_{};
};

// Decides the finding's disposition from its series. Pure.
void ApplySeries(const std::vector<std::int64_t>& series, bool is_long, Finding& finding);

// The confirmations of one run. They happen inline, while a test waits, or after the program has
// ended, as the command line and budget files say.
class RunConfirmations {
 public:
  // `is_cancelled` of `setup` is not used.
  explicit RunConfirmations(const RepetitionSetup& setup);

  // Confirms `window` if that is to happen inline. Called on the judge's thread while the test
  // waits.
  void ConfirmNow(WindowResult& window);

  // Interrupts the repetitions that ConfirmNow is running.
  void ProgramHasEnded() { has_ended_.store(true); }

  // Confirms all windows that are still open, unless `why_not` says why no test can be repeated.
  // Called on the main thread. A signal that asks the runner to end only interrupts this, if the
  // interruption does not take long.
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
