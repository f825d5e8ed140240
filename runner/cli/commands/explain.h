// `leakgate explain`: tells in words which budget applies to a test, and why.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/cli/app/option_list.h"

namespace leakgate {

struct ExplainCommand {
  std::string test;
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

void Declare(ExplainCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(ExplainCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const ExplainCommand& command);

// The rest is pure, except that files are ranked by their directories.

// Returns an error if two files claim the test.
[[nodiscard]] Expected<std::string> ExplainText(const BudgetSet& budgets, const TestId& test,
                                                std::chrono::year_month_day today);

// Returns the test of that name. If there is none, the error proposes another.
[[nodiscard]] Expected<TestId> FindTest(const std::string& name, const std::vector<TestId>& tests);

}  // namespace leakgate
