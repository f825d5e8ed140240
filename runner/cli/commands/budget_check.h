// `leakgate budget check`: finds what is wrong, or soon will be, with budget files that parse.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/cli/app/option_list.h"

namespace leakgate {

// Validates budget files; with a program, also holds them against its tests.
struct BudgetCheckCommand {
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

void Declare(BudgetCheckCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(BudgetCheckCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const BudgetCheckCommand& command);

// The rest is pure, except that files are ranked by their directories.

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
