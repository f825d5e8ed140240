// Finds out what makes a test exceed limits on what it may do, whatever it leaves: what it
// allocates
// (`allocated`), allocates for a moment only (`temporary`), or has live at its peak (`peak`). Each
// event of the test is recorded for that, in a run of the test alone; nothing is recorded before.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/result/window_result.h"
#include "runner/run/repetition.h"

namespace leakgate {

// Returns those of these quantities that `window` exceeds, in the order of its violations.
[[nodiscard]] std::vector<std::string> ExceededByDoing(const WindowResult& window);

// Returns an entry of `window.made_by` for each of these quantities, which only tells why nothing
// is known of it.
[[nodiscard]] std::vector<Makers> MakersUnknown(const WindowResult& window,
                                                const std::string& problem);

// Repeats the test of `window` once, recorded, on the calling thread, and returns what made it
// exceed its limits.
[[nodiscard]] std::vector<Makers> FindMakers(const RepetitionSetup& setup,
                                             const RepetitionRequest& request,
                                             const WindowResult& window);

}  // namespace leakgate
