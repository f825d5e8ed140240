// What the sum of a test's call sites says of the test, beside its findings (judge/all_growth.h).
#pragma once

#include "runner/judge/all_growth.h"
#include "runner/result/run_result.h"
#include "runner/run/repetition.h"

namespace leakgate {

// Returns which call sites count in the sum of the test of `window`: those that the default policy
// judges, and no allowance or baseline excuses. Returns null if none is judged so. `setup` and
// `window` outlive what is returned.
[[nodiscard]] CountsInSum CountsFor(const RepetitionSetup& setup, const WindowResult& window);

// Fails the test, or leaves it unconfirmed, for what grows in the sum and is no finding that does:
// adds what the repetitions showed anew to the findings. REQUIRES: the findings have been judged by
// the same repetitions.
void ApplySum(const RepetitionSetup& setup, const AllGrowth& all, SeriesLength length,
              WindowResult& window);

}  // namespace leakgate
