// Confirms what tests have retained, by repeating each alone: one-time
// initialisation and bounded caches pass, what grows each time fails.
//
// What cannot be repeated (the test hangs, aborts, fails when alone, or does not
// run) stays unconfirmed and says why. A test is repeated once, however often it
// ran.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/session/repetition.h"

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

}  // namespace leakgate
