// Finds the call sites that make a test exceed limits on its activity, whatever it leaves: on what
// it allocates (`allocated`), allocates only for a moment (`temporary`), or has live at its peak
// (`peak`). For that, the test is run again alone, and all of its events are recorded; nothing is
// recorded before.
#pragma once

#include <filesystem>
#include <vector>

#include "runner/result/window_result.h"
#include "runner/run/repetition.h"

namespace leakgate {

// Repeats the test of `window` once, recorded, on the calling thread, and returns what made it
// exceed its limits.
[[nodiscard]] std::vector<TopAllocators> RecordTopAllocators(const RepetitionSetup& setup,
                                                             const RepetitionRequest& request,
                                                             const WindowResult& window);

}  // namespace leakgate
