// From one budget file to the budget of one window: overrides resolved, what has
// expired left out. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/applied_budget.h"

namespace leakgate {

// The window that a budget is for: the tests in it, by full name, all of them;
// none for the program.
struct BudgetedWindow {
  WindowKind kind = WindowKind::kTest;
  std::vector<std::string> tests;
  std::chrono::year_month_day today;
};

// What `file` allows `window`. Each quantity comes whole from the last override
// that matches every one of the tests and sets it, else from the file's own
// limits; `free_by` likewise. Of the allowances, those for every test, and those
// that match every one of the window's.
[[nodiscard]] AppliedBudget ApplyLimits(const BudgetFile& file, const BudgetedWindow& window);

// True if `patterns` match all of the tests, and there is one.
[[nodiscard]] bool MatchesAllTests(const std::vector<std::string>& patterns,
                                   const std::vector<std::string>& tests);

// True after the last day on which it holds. Without a date it never is.
[[nodiscard]] bool HasExpired(const std::optional<std::chrono::year_month_day>& expires,
                              std::chrono::year_month_day today);

[[nodiscard]] bool SetsAnyLimit(const WindowLimits& limits);

// The first limit in the text; nullopt if none is set.
[[nodiscard]] std::optional<Limit> FirstLimit(const WindowLimits& limits);

}  // namespace leakgate
