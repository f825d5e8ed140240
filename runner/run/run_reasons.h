// Why a run cannot be trusted, and what its user should tidy up: each reason and each warning is
// one line that says what to do. A run with a reason never passes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/report/run_result.h"
#include "runner/run/generations.h"

namespace leakgate {

// From what the images left behind, how the program ended and what was dropped.
// REQUIRES: `result` has its program and tracing filled in.
[[nodiscard]] std::vector<std::string> ReasonsForDoubt(const Generations& generations,
                                                       const RunResult& result);

// That the program was killed for taking too long, and in which test.
[[nodiscard]] std::string TimeoutReason(const Generations& generations,
                                        std::chrono::milliseconds timeout);

// Allowances that covered nothing: out of date, mostly.
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
