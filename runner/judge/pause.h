// Decides whether what grows is freed in time: the repetitions of a quick test take milliseconds, and
// a cache whose entries expire after seconds, or a thread that frees each second, looks like growth.
// So the repetitions stop for some seconds before a test fails, and go on after that. Pure.
//
//   repetitions     +1 +1 +1 +1 +1        a pause of seconds        two more
//   a leak                                +0                        +1 +1
//   a thread frees                        -5                        +1 +1    freed
//   a cache with a time to live           +0                        -4 +1    freed by the next call
#pragma once

#include <cstddef>

#include "runner/judge/repetition_series.h"

namespace leakgate {

enum class FreedInTime {
  kUnseen,  // it did not grow before the pause
  kNot,     // nothing of it was freed
  kPartly,  // less than half
  kMostly,
};

// `looks_before` are those of the series until the pause. What it fell by before the pause, too, is
// no sign of time.
[[nodiscard]] FreedInTime JudgePause(const RepetitionSeries& series, std::size_t looks_before);

// Returns the one of both that tells less of frees; what was not seen tells nothing.
[[nodiscard]] FreedInTime LessOf(FreedInTime a, FreedInTime b);

}  // namespace leakgate
