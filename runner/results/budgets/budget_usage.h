// What a run needed of the budget files that it was judged by: `leakgate budget ratchet` tightens
// them to it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Returns what the run needed of `file`, one of the `budgets` that the run was judged by. It is
// pure, except that files are ranked by their directories.
[[nodiscard]] BudgetUsage UsageOf(const BudgetFile& file, const BudgetSet& budgets,
                                  const RunResult& result, std::chrono::year_month_day today);

// Tells whether all tests ran: without a filter, and not as one shard of several. `environment`
// is that of the run, NAME=VALUE.
[[nodiscard]] bool RanAllTests(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment);

}  // namespace leakgate
