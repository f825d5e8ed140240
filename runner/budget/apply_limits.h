// Dates of budget files, such as "2026-01-31", and what has expired. All functions but Today are
// pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/budget/budget_file.h"

namespace leakgate {

// Returns nullopt if `text` has another form, or if there is no such day.
[[nodiscard]] std::optional<std::chrono::year_month_day> ParseDate(std::string_view text);

[[nodiscard]] std::string DateText(std::chrono::year_month_day date);

// The day in UTC, so that all machines agree on it.
[[nodiscard]] std::chrono::year_month_day Today();

// `expires` is the last day on which an entry applies. An entry without a date never expires.
[[nodiscard]] bool HasExpired(const std::optional<std::chrono::year_month_day>& expires,
                              std::chrono::year_month_day today);

// Returns a line for each override and allowance of `file` that has expired: "FILE:LINE: the
// allowance for ... expired on ...; fix the leak, or set a later date".
[[nodiscard]] std::vector<std::string> ExpiredEntries(const BudgetFile& file,
                                                      std::chrono::year_month_day today);

// Returns a like line for each that still applies today, but expires within `period`.
[[nodiscard]] std::vector<std::string> ExpiringEntries(const BudgetFile& file,
                                                       std::chrono::year_month_day today,
                                                       std::chrono::days period);

// Works out what one budget file permits one window. All functions are pure.

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
