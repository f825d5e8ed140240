// Decides from a test's repetitions whether what a call site keeps grows. Pure.
//
// A series is the net of each repetition but the first, which builds what is built once. It has
// blocks and bytes: a container that grows stays one block, and the bytes of one that is filled
// anew go up and down while a leak beside it adds a block each time. What grows in either grows.
//
//   first series, 6 to 20    +1 +1 +1 +1 +1   about to fail: repeated for longer
//                           +0 +1 +0 +1 +0   tells nothing: repeated for longer
//                           +1 +1 +0 +0 +0   bounded
//   long series             long_series.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/judge/long_series.h"
#include "runner/region/amount.h"

namespace leakgate {

// What one call stack, or several together, had at each look more than at the one before. There is
// a look at the end of each repetition, or of each so many.
struct RepetitionSeries {
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> bytes;
  // Whether the first repetition made all the blocks that are there in the end.
  bool is_built_once = true;
  std::size_t stride = 1;              // the repetitions between two looks
  std::size_t repetitions = 0;         // of all, where the looks are not so; else 0
  std::size_t beyond = kBeyondBounds;  // SeriesScale::beyond
  Amount first{};                      // what there was at the end of the first repetition
  // The same of the first repetitions one by one, where they are not all: for reports.
  std::vector<std::int64_t> told_blocks{};
  std::vector<std::int64_t> told_bytes{};
};

// Returns how many repetitions the series is of.
[[nodiscard]] std::size_t CountRepetitions(const RepetitionSeries& series);

// Returns what there is more at the end than after the first repetition.
[[nodiscard]] Amount GrowthOf(const RepetitionSeries& series);

// Of one call site, by the text of its whole stacks: a function that allocates for many is one
// call site.
using SeriesByStack = std::map<std::string, RepetitionSeries>;

// Adds what one stack had to what others had.
void AddSeries(const RepetitionSeries& from, RepetitionSeries& to);

// Classifies blocks or bytes alone. An empty series is irregular.
[[nodiscard]] Growth ClassifyGrowth(const std::vector<std::int64_t>& net, SeriesLength length,
                                    const SeriesScale& scale = {});

// Classifies by blocks and by bytes: the worse of both counts.
[[nodiscard]] Growth ClassifyGrowth(const RepetitionSeries& series, SeriesLength length);

// How many of the first looks after the first repetition there were when it last grew; 0 if it
// never did.
[[nodiscard]] std::size_t LastGrowth(const RepetitionSeries& series);

struct JudgedSeries {
  Growth growth = Growth::kIrregular;
  RepetitionSeries series;        // which `growth` is of
  bool is_of_all_stacks = false;  // and not of the stack alone
};

// Judges what `stack` left behind. Its own series counts; but what moves from one stack of the call
// site to another grows in all of them together. So does what the stack leaves only with other
// tests: then all stacks count.
[[nodiscard]] JudgedSeries JudgeStack(const SeriesByStack& site, const std::string& stack,
                                      SeriesLength length);

}  // namespace leakgate
