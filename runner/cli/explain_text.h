// `leakgate explain`: which budget applies to a test, and why, in words. Pure,
// but that files are ranked by their directories.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"

namespace leakgate {

// Error: two files claim the test.
[[nodiscard]] Expected<std::string> ExplainText(const BudgetSet& budgets, const TestId& test,
                                                std::chrono::year_month_day today);

// The one of `tests` that is named so. Error: none is; it proposes another.
[[nodiscard]] Expected<TestId> FindTest(const std::string& name, const std::vector<TestId>& tests);

}  // namespace leakgate
