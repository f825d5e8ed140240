// `leakgate explain`: which budget applies to a test, and why, in words.
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

// The rest is pure, but that files are ranked by their directories.

// Error: two files claim the test.
[[nodiscard]] Expected<std::string> ExplainText(const BudgetSet& budgets, const TestId& test,
                                                std::chrono::year_month_day today);

// The one of `tests` that is named so. Error: none is; it proposes another.
[[nodiscard]] Expected<TestId> FindTest(const std::string& name, const std::vector<TestId>& tests);

}  // namespace leakgate
