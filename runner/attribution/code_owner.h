// Which frames of a call stack are the user's own code, and which belong to
// the C and C++ runtime, to GoogleTest or to leakgate's agent.
//
// It decides which frame a report shows first and which component is charged.
// Pure; when in doubt a frame is the user's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/symbols/frame.h"

namespace leakgate {

[[nodiscard]] bool IsUserFrame(const Frame& frame);

// The index of the innermost frame of `stack` that is the user's own.
[[nodiscard]] std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack);

// Whose code allocated: the component that is charged with a block, whichever
// test ran. Pure.

// Of `files`, the one whose code the innermost possible frame of `stack` is;
// only the user's own frames count. Where several claim that frame, the one with
// the longest pattern that matches, then the first. If none claims any frame: the
// file of the component `kUnowned`, or nullptr.
[[nodiscard]] const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                                        const std::vector<Frame>& stack);

}  // namespace leakgate
