// The law of conservation in repetitions: what the user's code has outstanding in all must stop
// growing, whichever call stacks it is charged to. Pure.
//
// A log to which two lines append is one block that moves from stack to stack: each of them has one
// block or none at the end of a repetition, and what grows is the sum.
//
//   first line    +0     -40 B  +56 B  -80 B
//   second line   +24 B  +0     -40 B  +96 B     each goes up and down
//   sum           +24 B  ...                     grows
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runner/judge/repetition_series.h"
#include "runner/result/finding.h"

namespace leakgate {

// What one call site has of it.
struct GrowthShare {
  std::string site;  // its SeriesKey
  Finding finding;   // without amounts, of that of its stacks that grew most
  RepetitionSeries series;
};

// Of one process, or of one test in it.
struct AllGrowth {
  RepetitionSeries total;
  std::vector<GrowthShare> shares;  // those that grew, the largest first
  Amount fallen;  // by which call stacks have less than after the first repetition
};

// Which call sites count in the sum.
using CountsInSum = std::function<bool(const Finding& finding)>;

// Takes the shares of these call sites, by SeriesKey, out of the sum.
void TakeOut(const std::set<std::string>& sites, AllGrowth& all);

// Judges the sum. It is flat if nothing was counted.
[[nodiscard]] JudgedSeries JudgeSum(const AllGrowth& all, SeriesLength length);

// Returns whether others give back what `series` adds, so that it is no growth as long as they
// last: the sum has grown by less than half of it, and others have fallen by more.
[[nodiscard]] bool IsMadeUpFor(const AllGrowth& all, const RepetitionSeries& series);

// Returns what there is more in the end, such as "63 blocks, 6.2 KiB".
[[nodiscard]] std::string GrownText(const RepetitionSeries& series, AllocationKind kind);

// Returns the sum and its largest shares in words, such as "all call sites together grew by 1.2 MiB
// in 1281 repetitions: Log::Add (log.cpp:12) 800 KiB, Log::Flush (log.cpp:30) 400 KiB".
[[nodiscard]] std::string ExplainSum(const AllGrowth& all);

// Returns a finding of a call site that the repetitions showed, and the suite's run did not: of
// what one repetition adds.
[[nodiscard]] Finding FindingOf(const GrowthShare& share, const RepetitionSeries& grown);

}  // namespace leakgate
