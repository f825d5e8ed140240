// What a run needed of its budget files: what `leakgate budget ratchet` tightens
// them to. Pure, but that files are ranked by their directories.
#pragma once

#include <chrono>

#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/report/run_result.h"

namespace leakgate {

// `file` is one of `budgets`, those that the run was judged by.
[[nodiscard]] BudgetUsage UsageOf(const BudgetFile& file, const BudgetSet& budgets,
                                  const RunResult& result, std::chrono::year_month_day today);

// Whether all tests ran: not filtered, and no shard of several. `environment` is
// the run's, NAME=VALUE.
[[nodiscard]] bool RanAllTests(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment);

}  // namespace leakgate
