// Repeats tests that fail for growth once more, with a pause, and decides what is freed in time
// (judge/pause.h).
#pragma once

#include <cstddef>
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

// Asks for the repetitions of the windows' tests, in one process: some, a pause, and more.
// `setup` and `windows` outlive what is returned.
[[nodiscard]] RepetitionRequest PauseRequestFor(const RepetitionSetup& setup,
                                                const ConfirmationLimits& limits,
                                                const std::vector<WindowResult*>& windows);

// Returns whether all that grows in the window has been freed by now. `looks_before` are those until
// the pause.
[[nodiscard]] bool IsAllFreed(const SoFar& so_far, std::size_t looks_before,
                              const WindowResult& window);

// Decides anew what grows in the window, and adds the call sites of which nothing was freed to
// `lasting`.
void ApplyPause(const SoFar& so_far, std::size_t looks_before, WindowResult& window,
                std::set<std::string>& lasting);

}  // namespace leakgate
