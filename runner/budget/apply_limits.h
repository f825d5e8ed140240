// From one budget file to the limits of one window: overrides resolved, the
// default put in. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/budget/budget_set.h"

namespace leakgate {

// What `file` allows a window of `kind` around `tests` (all of them, by full
// name; none for the program). "outstanding" and "growth" each come whole from
// the last override that matches every one of the tests and sets it, else from
// the file's own limits.
[[nodiscard]] AppliedBudget ApplyLimits(const BudgetFile& file, WindowKind kind,
                                        const std::vector<std::string>& tests);

// A test's budget, where nothing limits `outstanding`: 0 bytes and 0 blocks.
[[nodiscard]] AppliedBudget WithDefault(AppliedBudget budget);

[[nodiscard]] bool SetsAnyLimit(const WindowLimits& limits);

// The first line that sets a limit; 0 if none does.
[[nodiscard]] int FirstLine(const WindowLimits& limits);

}  // namespace leakgate
