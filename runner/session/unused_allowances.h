// Allowances that covered nothing: out of date, mostly.
#pragma once

#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/report/run_result.h"
#include "runner/session/generations.h"

namespace leakgate {

// A line for each allowance of `budgets` that no finding was allowed by.
[[nodiscard]] std::vector<std::string> UnusedAllowances(const BudgetSet& budgets,
                                                        const std::vector<WindowResult>& windows);

// Adds a warning for each test that was to leave memory and left none
// (leakgate::ExpectOutstanding).
void AddUnmetExpectations(const Generations& generations, RunResult& result);

// Whether neither `arguments` nor the environment choose among the tests: what is
// unused in a part of them may be used in another.
[[nodiscard]] bool RunsAllTests(const std::vector<std::string>& arguments);

}  // namespace leakgate
