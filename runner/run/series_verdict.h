// What the series of a test's repetitions show, and what they make of its findings. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "runner/judge/repetition_series.h"
#include "runner/result/run_result.h"
#include "runner/run/asked_stacks.h"
#include "runner/run/repetition.h"

namespace leakgate {

// The result of one test's repetitions.
struct TestOutcome {
  AskedStacks asked = {};
  AskedStacks excused = {};  // of those: its growth proves nothing against the test
  AskedStacks lost = {};     // of those: each repetition loses some more, which proves all
  RepetitionResult first = {};
  std::optional<RepetitionResult> longer = std::nullopt;

  // Returns what more repetitions may tell.
  [[nodiscard]] AskedStacks Open() const { return Without(Without(asked, excused), lost); }
  // Returns the longer series; null if it was not made or could not be had.
  [[nodiscard]] const RepetitionResult* FindLonger() const {
    return longer && longer->problem.empty() ? &*longer : nullptr;
  }
};

using TestOutcomes = std::map<std::string, TestOutcome>;  // by test

// Judges what is asked for by its series. Returns nullopt if the test left nothing of the call site
// when it was run alone.
[[nodiscard]] std::optional<JudgedSeries> JudgeAsked(const SeriesBySite& series,
                                                     const AskedStack& asked, SeriesLength length);

// Returns whether anything that is asked for, or the sum, is one of `wanted`.
[[nodiscard]] bool AnyIs(const SoFar& so_far, const AskedStacks& asked, SeriesLength length,
                         const std::set<Growth>& wanted);

// Returns whether anything that is open, or the sum, is one of `wanted` in the first series.
[[nodiscard]] bool FirstShows(const TestOutcome& outcome, const std::set<Growth>& wanted);

// Returns whether the first series of the test is about to fail it, or tells too little.
[[nodiscard]] bool NeedsMore(const TestOutcome& outcome);

// Returns whether the call stack itself grows, and not only all stacks of its call site together.
[[nodiscard]] bool IsSteadyByItself(const SeriesBySite& series, const AskedStack& asked,
                                    SeriesLength length);

// Returns those of `asked` that grow with each repetition, which loses what the one before had
// made. No later one can free that.
[[nodiscard]] AskedStacks FindLostEachTime(const AskedStacks& asked, const RepetitionResult& first);

// Returns whether all that is asked for is what the first repetition made.
[[nodiscard]] bool AreFlat(const RepetitionResult& result, const AskedStacks& asked);

// Returns whether that is so and nothing was freed later. Then no other test of the process can
// have hidden what this one adds each time.
[[nodiscard]] bool WereBuiltOnce(const RepetitionResult& result, const AskedStacks& asked);

// Returns whether there were more blocks at each look.
[[nodiscard]] bool GrowsEachTime(const RepetitionSeries& series);

// Returns whether so many more of threads or descriptors, which go at times of their own, are there
// by no chance.
[[nodiscard]] bool IsCertain(const RepetitionSeries& series);

// Decides the dispositions of what was repeated of the window, and whether its descriptors grow.
// Where the longer series could not be had, the first one decides: it tells what does not grow. Of
// what grew nobody knows how far.
void ApplyOutcome(const TestOutcome& outcome, WindowResult& window);

// Decides the finding's disposition from its series. REQUIRES: `length` is kShort or kFinal.
void ApplySeries(const JudgedSeries& judged, SeriesLength length, Finding& finding);

// Returns what becomes of what has such a series. One-time initialisation is only what is there
// from the first repetition on.
[[nodiscard]] Disposition DispositionOf(const JudgedSeries& judged);

}  // namespace leakgate
