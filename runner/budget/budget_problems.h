// What is wrong, or soon will be, with budget files that parse. `leakgate budget check` prints it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/budget_set.h"

namespace leakgate {

// These functions are pure, except that files are ranked by their directories.

// Lines that begin with the file, and tell what to do.
struct BudgetProblems {
  std::vector<std::string> errors;    // a run would end, or fail, because of them
  std::vector<std::string> warnings;  // nothing fails yet
};

// Returns what is wrong with one file on the date `today`.
[[nodiscard]] BudgetProblems CheckDates(const BudgetFile& file, std::chrono::year_month_day today);

// Returns conflicts for the tests of a binary, and patterns that match none of them.
[[nodiscard]] BudgetProblems CheckAgainstTests(const BudgetSet& budgets,
                                               const std::vector<TestId>& tests);

// Returns "ok: component net, 2 overrides, 1 allowance".
[[nodiscard]] std::string DescribeBudget(const BudgetFile& file);

}  // namespace leakgate
