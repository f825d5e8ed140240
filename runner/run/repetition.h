// Repeats one test alone, in a fresh process, several times. It counts by call site what each
// repetition leaves behind: this shows whether the memory that the test retained in the suite's run
// is built once, or grows.
//
// The process is launched suspended and traced like any other. It has no input, its output is
// dropped, and it is in a process group of its own. It gets the suite's variables and arguments
// without those of GoogleTest, so that it writes no result file and runs no other test. Where it
// can be had, it writes into a copy of the working directory (linux/scratch_copy.h), and what
// compilers and libraries write at the process's end (coverage, profiles) is led aside in any case.
// LEAKGATE_REPETITION=1 tells it what it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/run/iteration_counts.h"
#include "runner/run/launcher.h"
#include "runner/run/preparation.h"
#include "runner/run/run_request.h"
#include "runner/run/scratch_copy.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// How the tests' program is started.
struct RepetitionSetup {
  const RunRequest& request;
  const Preparation& prepared;
  const InheritedState& inherited;
  SignalMask signal_mask;  // the program begins with it
  Symbolizer& symbolizer;
  std::function<bool()> is_cancelled;  // polled during the repetitions
};

// With fewer, nothing can be told.
inline constexpr int kFewestRepetitions = 6;

// What repetitions have shown.
struct SoFar {
  const SeriesBySite& series;
  const AllGrowth& all;
  const std::map<std::string, GrowthOfTest>& by_test;  // if counts_by_test is set
};

// The repetitions stop between two of them, while the other threads run on: a series of cycles as
// judge/pause.h has them, and looks at nothing else.
struct RepetitionPauses {
  int each = 0;                      // n of the first cycle
  int more = 0;                      // m
  std::chrono::milliseconds time{};  // of a pause, at most
  // Asked at the end of each cycle; no other follows when it returns true.
  std::function<bool(const SoFar& so_far)> is_enough{};
};

// Returns how many repetitions all cycles have.
[[nodiscard]] int CountRepetitions(const RepetitionPauses& pauses);

struct RepetitionRequest {
  std::vector<std::string> tests;  // "Suite.Test" each
  int repetitions = kFewestRepetitions;
  int looked_at = 0;  // the first so many, and the last; 0: all
  // If set, the last one is as many behind those as this time is enough for, by how long these
  // took, and `repetitions` at the most.
  std::chrono::nanoseconds unlooked{};
  std::chrono::milliseconds timeout{};
  std::chrono::nanoseconds once{};     // how long the tests took in the suite's run
  std::set<std::string> call_sites{};  // the keys of those to count
  bool tells_frees = false;            // whether to tell what was freed later
  std::set<std::string> fates_of{};    // by CallStackKey: as IterationCounts::FindFatesOf
  bool may_fail = false;               // true if the test did not pass in the suite's run
  // If set, the repetitions need not all take place: the process is killed between two of them when
  // this returns true, or at the timeout, and what has taken place counts.
  std::function<bool(const SoFar& so_far)> is_enough{};
  std::size_t judged_from = 0;  // is_enough is not asked before so many repetitions
  // Which call sites count in the sum of all; if not set, there is no sum.
  CountsInSum counts_in_sum{};
  std::map<std::string, CountsInSum> counts_by_test{};  // likewise, of each test alone
  std::optional<RepetitionPauses> pauses{};             // what is_enough says does not count then
};

struct RepetitionResult {
  std::string problem;  // one line that says why there is no result; empty if there is one
  // For those of the requested call sites that had a live block at the end of any repetition.
  SeriesBySite series;
  AllGrowth all = {};                                // if counts_in_sum was set
  std::map<std::string, GrowthOfTest> by_test = {};  // if counts_by_test was set
  ResourcesLeft descriptors_left = {};  // by the second repetition, if descriptors were asked for
  std::set<std::string> tests_with_descriptors = {};  // that left some open, likewise
  // As IterationCounts::StacksFreedLater, if that was asked for.
  std::optional<std::set<std::string>> stacks_freed_later = std::nullopt;
  BlockFates fates = {};                       // if fates_of was set
  std::set<std::string> unsettled_tests = {};  // as IterationCounts::FindUnsettledTests, likewise
};

// How the repetitions came to their end.
struct RepetitionEnd {
  ProgramExit status;
  std::string problem;   // why the process was killed before them; empty if it was not
  bool is_late = false;  // the problem is the timeout, or that a repetition did not end
};

struct RepetitionProgress {
  std::uint64_t windows = 0;   // that have begun
  bool has_ended_one = false;  // a repetition has ended
};

// What the launched process is given.
struct RepeatedProcess {
  // Returns the descriptor of a region for a program that the process executes; -1 if it gets none.
  // Called on the control server's thread.
  std::function<int(int pid)> region_for;
  // Called before the process begins with the variable by which it and all that it starts are
  // known. May be empty.
  std::function<void(const std::string& mark)> before_begin{};
  // Tells whether a repetition hangs. May be empty.
  std::function<RepetitionProgress()> progress{};
  bool takes_forks =
      false;  // true if forked children are given regions, too: the test may run there
};

// Launches the process of the repetitions on the calling thread, and waits for it. Fails if it
// cannot be launched.
[[nodiscard]] Expected<RepetitionEnd> RunRepetitions(const RepetitionSetup& setup,
                                                     const RepetitionRequest& request,
                                                     const RepeatedProcess& process);

// Repeats and counts.
[[nodiscard]] RepetitionResult Repeat(const RepetitionSetup& setup,
                                      const RepetitionRequest& request);

}  // namespace leakgate
