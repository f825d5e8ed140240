// Repeats tests that fail for growth once more, with a pause, and decides what is freed in time
// (judge/pause.h).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/run/repetition.h"

namespace leakgate {

// Returns whether a pause may change the verdict: something grows that is none of `lasting`, the
// call sites of which nothing was freed in a pause before.
[[nodiscard]] bool MayBeFreedInTime(const WindowResult& window,
                                    const std::set<std::string>& lasting);

// Asks for the repetitions of the windows' tests, in one process, with pauses. `setup` and
// `windows` outlive what is returned.
[[nodiscard]] RepetitionRequest PauseRequestFor(const RepetitionSetup& setup,
                                                const ConfirmationLimits& limits,
                                                const std::vector<WindowResult*>& windows);

// Returns whether a finding's own call stack grows, and not only all of its call site together.
using GrowsByItself = std::function<bool(const WindowResult& window, const Finding& finding)>;

// Returns whether another pause would tell nothing of the window.
[[nodiscard]] bool IsToldByPauses(const SoFar& so_far, const WindowResult& window,
                                  const GrowsByItself& grows_by_itself);

// Decides anew what grows in the window, and adds the call sites of which nothing was freed to
// `lasting`.
void ApplyPauses(const SoFar& so_far, const GrowsByItself& grows_by_itself, WindowResult& window,
                 std::set<std::string>& lasting);

}  // namespace leakgate
