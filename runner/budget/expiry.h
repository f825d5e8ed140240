// Which overrides and allowances of a budget file have expired, or soon will:
// a line for each, with file and line. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_file.h"

namespace leakgate {

// "FILE:LINE: the allowance for ... expired on ...; fix the leak, or set a later date"
[[nodiscard]] std::vector<std::string> ExpiredEntries(const BudgetFile& file,
                                                      std::chrono::year_month_day today);

// Those that still hold today, and no longer after `period`.
[[nodiscard]] std::vector<std::string> ExpiringEntries(const BudgetFile& file,
                                                       std::chrono::year_month_day today,
                                                       std::chrono::days period);

}  // namespace leakgate
