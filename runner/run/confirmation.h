// Confirms what tests have retained by repeating them: blocks, mappings, threads that run on, open
// descriptors. Quick tests are repeated together first, and alone where that does not tell enough.
// One-time initialisation and bounded caches pass; what grows fails. A test that is about to fail,
// and one of which the first repetitions tell nothing, is repeated for longer.
//
//   asked_stacks.h    what is to be repeated
//   test_repeater.h   repeats it
//   series_verdict.h  what the series show of each call stack; sum_of_test.h, of their sum;
//                     freed_in_time.h, of a pause
//
// A test that cannot be repeated (it hangs, aborts, fails when alone, or does not run) stays
// unconfirmed and its findings say why. Each test is repeated once, however often it ran.
//
// Threads and descriptors go at times of their own, so they fail only by a whole long series, and
// pass where there is none.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/run/repetition.h"
#include "runner/run/test_repeater.h"

namespace leakgate {

class Confirmation {
 public:
  Confirmation(RepetitionSetup setup, const ConfirmationLimits& limits)
      : repeater_(std::move(setup), limits) {}

  // As TestRepeater::ShareTime.
  void ShareTime(std::chrono::nanoseconds tests) { repeater_.ShareTime(tests); }

  // Returns whether Confirm would repeat the window's test.
  [[nodiscard]] static bool IsOpen(const WindowResult& window);

  // Makes the first series of quick tests among those of `windows`, in one process, as far as that
  // tells the same as a process for each: what each of them asks about was built by the first
  // repetition, and no later one added, replaced or freed any of it. Decides nothing.
  void PrepareTogether(const std::vector<const WindowResult*>& windows);

  // Makes the first series of the window's test, and decides nothing. Where this is done for all
  // tests first, the time that some take for longer is none of the others'. Does nothing unless
  // IsOpen.
  void Prepare(const WindowResult& window);

  // Makes the long series of quick tests among those of `windows` that are about to fail, in few
  // processes. It counts for a test of which a call stack grows by itself there: what others of the
  // process hide or add is told by a process for each. REQUIRES: Prepare was called for all.
  void RepeatLongTogether(const std::vector<const WindowResult*>& windows);

  // Repeats the window's test and decides its verdict anew. Does nothing unless IsOpen.
  void Confirm(WindowResult& window);

  // Repeats the window's test for long, and decides anew what of `finding`, one of its findings
  // that passed, the first series did not tell.
  void ConfirmForLong(const WindowResult& window, Finding& finding);

  // Repeats the tests of those of `windows` that fail for growth once more, all in one process,
  // with a pause: decides anew whether it is freed in time.
  void ConfirmInTime(const std::vector<WindowResult*>& windows);

  // Repeats the window's test once, recorded, to tell what made it exceed limits on what it does
  // (record_top_allocators.h). REQUIRES: it exceeds one.
  void Explain(WindowResult& window);

  // Runs `tests` once and returns those that leave descriptors open; none if they cannot be run.
  [[nodiscard]] std::set<std::string> FindTestsWithDescriptors(
      const std::vector<std::string>& tests);

  // The time spent on repetitions.
  std::chrono::nanoseconds spent() const { return repeater_.spent(); }

 private:
  // Returns what the first series of the window's test has shown, which is made if it is not known.
  TestOutcome& OutcomeOf(const WindowResult& window);
  void PrepareTogether(const TestRepeater::AskedByTest& asked, std::chrono::nanoseconds once);
  void RepeatLongTogether(const TestRepeater::OpenTests& tests);
  // Returns false if their tests could not be repeated so.
  bool WaitFor(const std::vector<WindowResult*>& windows);

  TestRepeater repeater_;
  TestOutcomes outcomes_;
  std::map<std::string, std::vector<TopAllocators>> made_by_;  // by test
  std::set<std::string> lasting_;  // call sites, by SeriesKey, of which nothing is freed in time
};

}  // namespace leakgate
