// Tells whose code a call stack is: which frames are the user's own, and which component is charged
// with a block. A report shows the innermost of the user's frames first.
//
// Pure. When in doubt, a frame is the user's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Returns false for frames of the C and C++ runtime, of GoogleTest and of leakgate's agent.
[[nodiscard]] bool IsUserFrame(const Frame& frame);

// Returns the index of the innermost frame of `stack` that is the user's; nullopt if none is.
[[nodiscard]] std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack);

// Returns the budget file whose component has allocated, whichever test ran. That is the one which
// claims the innermost frame that any of `files` claims; only the user's frames count. If
// several claim that frame, the longest pattern that matches counts, and then the first file. If no
// frame is claimed, it is the file of the component `kUnowned`, or nullptr if there is none.
[[nodiscard]] const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                                        const std::vector<Frame>& stack);

}  // namespace leakgate
