// Decides from a test's repetitions whether what a call site keeps grows. Pure.
//
// A series is the net of each repetition but the first, which builds what is built once. It has
// blocks and bytes: a container that grows stays one block, and the bytes of one that is filled
// anew go up and down while a leak beside it adds a block each time. What grows in either grows.
//
//   first series, 6 to 20    +1 +1 +1 +1 +1   about to fail: repeated for longer
//                           +0 +1 +0 +1 +0   tells nothing: repeated for longer
//                           +1 +1 +0 +0 +0   bounded
//   64, or until it is told +1 +1 +1 .. +1   grows, a cache of sixteen lines has stopped by now
//                           +1 +1 +0 +2 +0 +0 +0 +4 ..  a vector that doubles: its flat stretches
//                                            are as long as all before, so up to 192 repetitions
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leakgate {

enum class Growth {
  kNone,       // 0 0 0 0 0
  kBounded,    // it stops, or goes up and down
  kSteady,     // it grows all the while
  kIrregular,  // more repetitions tell
};

enum class SeriesLength {
  kShort,  // the first series, of six to twenty repetitions
  kOpen,   // more follow: kIrregular unless they would change nothing
  kFinal,  // no more follow
};

// What one call stack, or several together, had in each repetition more than in the one before.
struct RepetitionSeries {
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> bytes;
  // Whether the first repetition made all the blocks that are there in the end.
  bool is_built_once = true;
};

// Of one call site, by the text of its whole stacks: a function that allocates for many is one
// call site.
using SeriesByStack = std::map<std::string, RepetitionSeries>;

// Adds what one stack had to what others had.
void AddSeries(const RepetitionSeries& from, RepetitionSeries& to);

// Classifies blocks or bytes alone. An empty series is irregular.
[[nodiscard]] Growth ClassifyGrowth(const std::vector<std::int64_t>& net, SeriesLength length);

// Classifies by blocks and by bytes: the worse of both counts.
[[nodiscard]] Growth ClassifyGrowth(const RepetitionSeries& series, SeriesLength length);

// How many of the first repetitions after the first there were when it last grew; 0 if it never
// did.
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
