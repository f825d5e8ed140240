// Finds out what makes a test exceed limits on what it may do, whatever it leaves: what it
// allocates
// (`allocated`), allocates for a moment only (`temporary`), or has live at its peak (`peak`). Each
// event of the test is recorded for that, in a run of the test alone; nothing is recorded before.
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
