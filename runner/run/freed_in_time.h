// Repeats tests that fail for growth once more, with a pause, and decides what is freed in time
// (judge/pause.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/run/repetition.h"
#include "runner/run/series_verdict.h"

namespace leakgate {

// Returns whether a pause may change the verdict: something grows that is none of `lasting`, the
// call sites of which nothing was freed in a pause before.
[[nodiscard]] bool MayBeFreedInTime(const WindowResult& window,
                                    const std::set<std::string>& lasting);

// Returns whether threads grow in the window's test: those that end in time are no leak.
[[nodiscard]] bool LeavesThreads(const WindowResult& window);

// Asks for the repetitions of the windows' tests, in one process, with pauses. `setup` and
// `windows` outlive what is returned.
[[nodiscard]] RepetitionRequest PauseRequestFor(const RepetitionSetup& setup,
                                                const ConfirmationLimits& limits,
                                                const std::vector<WindowResult*>& windows);

// Returns whether the repetitions came to the end of a pause.
[[nodiscard]] bool HasPaused(const RepetitionResult& result);

// What was seen before, in the long series without pauses.
struct BeforePauses {
  int each = 0;  // n of judge/pause.h
  const TestOutcomes& outcomes;
};

// Returns whether another pause would tell nothing of the window.
[[nodiscard]] bool IsToldByPauses(const SoFar& so_far, const WindowResult& window,
                                  const BeforePauses& before);

// Decides anew what grows in the window, and adds the call sites of which nothing was freed to
// `lasting`. Returns false if the repetitions were so slow that threads which grew before did not.
bool ApplyPauses(const SoFar& so_far, const BeforePauses& before, WindowResult& window,
                 std::set<std::string>& lasting);

// Takes back that threads grow: the test was repeated once more, alone, and they did not.
void DoubtUnseenThreads(WindowResult& window);

}  // namespace leakgate
