// Whose code allocated: the component that is charged with a block, whichever
// test ran. Pure.
#pragma once

#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Of `files`, the one whose code the innermost possible frame of `stack` is;
// only the user's own frames count. Where several claim that frame, the one with
// the longest pattern that matches, then the first. If none claims any frame: the
// file of the component `kUnowned`, or nullptr.
[[nodiscard]] const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                                        const std::vector<Frame>& stack);

}  // namespace leakgate
