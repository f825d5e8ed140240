// Repeats tests for their series, and knows for how long (docs/internals/confirming-growth.md). Six
// repetitions tell most, and of quick tests twenty more surely; what they do not tell is repeated
// for longer: thousands of times if it is quick, for twenty seconds at most.
//
// Where a test cannot be repeated, RepetitionResult::problem says why. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/run/asked_stacks.h"
#include "runner/run/repetition.h"
#include "runner/run/series_verdict.h"

namespace leakgate {

class TestRepeater {
 public:
  TestRepeater(RepetitionSetup setup, const ConfirmationLimits& limits)
      : setup_(std::move(setup)), limits_(limits) {}

  // Shares out ConfirmationLimits::time, if it is set, among the tests that are to be repeated,
  // which took `tests` together: each is repeated fewer times, but two at least.
  void ShareTime(std::chrono::nanoseconds tests);

  // Makes the first series of the window's test, alone in its process.
  RepetitionResult RepeatFirst(const WindowResult& window, const AskedStacks& asked);

  // Makes the first series of quick tests, which take `once` together, in one process.
  using AskedByTest = std::map<std::string, AskedStacks>;
  RepetitionResult RepeatTogether(const AskedByTest& asked, std::chrono::nanoseconds once);

  // Makes the long series of the window's test, of which `outcome` has the first one.
  RepetitionResult RepeatForLong(const WindowResult& window, const TestOutcome& outcome);

  // Makes the long series of quick tests in one process. Returns those of the tests of which a call
  // stack grows by itself there: what others of the process hide or add is told by a process for
  // each.
  struct OpenTest {
    const WindowResult* window = nullptr;
    const TestOutcome* outcome = nullptr;
  };
  using OpenTests = std::map<std::string, OpenTest>;  // by name
  std::map<std::string, GrowthOfTest> RepeatLongTogether(const OpenTests& tests);

  // Makes the repetitions that `request` asks for, within the limits.
  RepetitionResult RepeatWithin(RepetitionRequest request);

  // Has `repeat` make them, with the time that is left. Returns why they could not be made; empty
  // if they were.
  using RepeatBy = std::function<void(const RepetitionRequest& request)>;
  [[nodiscard]] std::string Spend(RepetitionRequest request, const RepeatBy& repeat);

  const RepetitionSetup& setup() const { return setup_; }
  const ConfirmationLimits& limits() const { return limits_; }
  // The time spent on repetitions.
  std::chrono::nanoseconds spent() const { return spent_; }

 private:
  RepetitionResult RepeatAlone(const WindowResult& window, RepetitionRequest request);
  // Returns how long a test that does not grow each time may be repeated for.
  [[nodiscard]] std::chrono::milliseconds TimeLeft() const;
  // Returns why nothing may be repeated any more; an empty text if it may. Shortens the timeout to
  // the time that is left.
  [[nodiscard]] std::string Limit(RepetitionRequest& request) const;

  RepetitionSetup setup_;
  ConfirmationLimits limits_;
  std::chrono::nanoseconds spent_{};
  std::chrono::nanoseconds spent_on_growth_{};        // of that, on what grew each time
  int most_first_ = std::numeric_limits<int>::max();  // repetitions of a first series
};

}  // namespace leakgate
