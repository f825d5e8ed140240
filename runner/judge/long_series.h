// Decides from a long series of one amount whether it grows: a call site's blocks or bytes, or
// those of all call sites together. Pure.
//
// What is bounded grows, too, until its bound is reached: a ring of 1,000 lines for 1,000
// repetitions, a table of 200 words by ever fewer, a buffer that is kept at its largest now and
// then. So growth is said only of what has grown for longer than such bounds last, and as much late
// as early:
//
//   +1 +1 +1 .. +1                 1,200 times: grows
//   +1 .. +1 (1,000 times) +0 ..   stops, for as long as it has grown: bounded
//   +0 +0 +1 +0 +0 +1 ..           grows, once that were 1,000 entries or 9,600 repetitions; where
//   it
//                                  is less than one of 32, once it were 1,000 entries
//   +1 +1 +0 +2 +0 +0 +0 +4 ..     a vector that doubles: each wait is as long as all before: grows
//   +9 +7 +0 +4 +0 +0 +1 ..        less in each half than in the one before: fades, is bounded
//   +3 -2 +1 -4 +5 -3 ..           goes up and down: by the means of eight parts of it
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace leakgate {

// More repetitions than any bound lasts that is believed: a ring of 1,000 entries is full.
inline constexpr std::size_t kBeyondBounds = 1200;
// As threads and descriptors have it, which are never kept in thousands.
inline constexpr std::size_t kBeyondFew = 63;

// More blocks than those of a ring of 1,000 entries that are several blocks each.
inline constexpr std::int64_t kHugeBlocks = 8000;

// How a series was taken.
struct SeriesScale {
  std::size_t stride = 1;              // the repetitions between two looks
  std::size_t beyond = kBeyondBounds;  // so many repetitions are more than a bound lasts
  std::int64_t level = 0;              // what there was at first
  // The entries that were added, as far as blocks tell; none: as many as looks found more.
  std::optional<std::int64_t> entries{};
  // So much is beyond a bound however few repetitions made it: a ring of 100 buffers of 1 MiB.
  std::int64_t huge = 256LL << 20;
  bool is_of_block = false;  // blocks grew, which may have room for as much again
  // It grows so seldom that as many repetitions as are made fill no bound: entries alone count.
  bool is_seldom = false;
};

enum class Growth {
  kNone,       // 0 0 0 0 0
  kBounded,    // it stops, fades, or goes up and down
  kSteady,     // it grows all the while
  kIrregular,  // more repetitions tell
};

enum class SeriesLength {
  kShort,  // the first series, of six to twenty repetitions
  kOpen,   // more follow: kIrregular unless they would change nothing
  kSlow,   // more could follow, but take long: what comes back to its least is bounded
  kFinal,  // no more follow
};

// `net` has what each look found more than the one before. REQUIRES: `length` is not kShort.
[[nodiscard]] Growth ClassifyLong(const std::vector<std::int64_t>& net, const SeriesScale& scale,
                                  SeriesLength length);

// Returns how many looks there were when it last rose; 0 if it never did.
[[nodiscard]] std::size_t LastRiseOf(const std::vector<std::int64_t>& net);

// Returns whether it has not risen for three times as long as it ever waited before it rose.
[[nodiscard]] bool HasStopped(const std::vector<std::int64_t>& net);

[[nodiscard]] bool OnlyShrinks(const std::vector<std::int64_t>& net);
[[nodiscard]] bool GoesUpAndDown(const std::vector<std::int64_t>& net);

}  // namespace leakgate
