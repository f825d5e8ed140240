// Decides whether what grows is freed in time: the repetitions of a quick test take milliseconds,
// and a cache whose entries expire after seconds, or a thread that frees each second, looks like
// growth. So the test is repeated once more before it fails, with pauses of some seconds. Pure.
//
//   repetitions   m     n-m   pause  m     n'    pause  m     n''   pause  m
//   level             A     B              L1                 L2                 L3
//
//   a leak            m     n              n+m                                  nothing was freed
//   a cache           m     n              m                  m                 freed in time
//   a leak beside it  2m    2n             n+2m               2n+3m             half of it stays
//   a cache           m     m              m                  m                 on a slow machine
//
// L1, L2 and L3 are what is left once time has passed. What they rise by is not freed in time. On a
// slow machine, m repetitions take as long as an entry stays: then B is hardly more than A. So it
// is beside something bounded that is larger than what n repetitions lose; but then B is more than
// A by as much as the long series has shown of such repetitions, and so are L2 and L3. Where
// nothing has been freed at L1, it ends there; L3 is for what L2 does not tell, as beside what goes
// up and down. A block that doubles may have room for all that a cycle adds, but not for what two
// do: what never falls is told by how much there is in the end. The three numbers of repetitions
// are unlike each other, so that batches are not cut at the same place each time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runner/judge/repetition_series.h"

namespace leakgate {

// The looks of such a series: after m and n repetitions, at the end of the pause, and m later.
inline constexpr std::size_t kLooksOfCycle = 4;
// n, n' and n'' in hundredths of n.
inline constexpr std::array<std::int64_t, 3> kCyclePercent = {100, 137, 173};

enum class FreedInTime {
  kUnseen,  // it did not grow before the pause
  kNot,     // nothing of it was freed, or as much stays each time
  kPartly,  // some of it is freed, and some seems to stay
  kMostly,  // nothing stays
};

// Returns what `repetitions` more add, by the later half of a long series: once what is bounded has
// had time to fill.
[[nodiscard]] Amount GrowthIn(const RepetitionSeries& series, std::int64_t repetitions);

// `expected` is what n repetitions add where nothing is freed in time; none of it if that is not
// known. REQUIRES: the series has a look for each of the above, for one to three cycles.
[[nodiscard]] FreedInTime JudgePauses(const RepetitionSeries& series, Amount expected = {});

// Returns whether it has never fallen, and rises by many blocks in each of three cycles, as their
// lengths are: it stays, whatever is freed in time beside it. REQUIRES: likewise.
[[nodiscard]] bool Stays(const RepetitionSeries& series);

// Returns the one of both that tells less of frees; what was not seen tells nothing.
[[nodiscard]] FreedInTime LessOf(FreedInTime a, FreedInTime b);

}  // namespace leakgate
