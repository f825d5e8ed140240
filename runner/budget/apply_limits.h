// Works out what one budget file permits one window. All functions are pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/budget/expiry.h"

namespace leakgate {

// The window that a budget is for.
struct BudgetedWindow {
  WindowKind kind = WindowKind::kTest;
  std::vector<std::string> tests;  // the full names of all tests in it; none for the program
  std::chrono::year_month_day today;
};

// Returns what `file` permits `window`. An override applies if it matches all of the window's tests
// and has not expired. Each quantity, bytes and blocks together, comes from the last such override
// that sets it, or else from the file's own limits; so does `free_by`. An allowance applies if it
// names no tests, or matches all of the window's, and has not expired.
[[nodiscard]] AppliedBudget ApplyLimits(const BudgetFile& file, const BudgetedWindow& window);

// False if there are no tests.
[[nodiscard]] bool MatchesAllTests(const std::vector<std::string>& patterns,
                                   const std::vector<std::string>& tests);

// Returns the limit that comes first in the file; nullopt if none is set.
[[nodiscard]] std::optional<Limit> FirstLimit(const WindowLimits& limits);

}  // namespace leakgate
