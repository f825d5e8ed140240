// Dates as budget files write them: "2026-01-31". Pure, but for Today.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"

namespace leakgate {

// The day that `text` names; nullopt if it is not written so, or no such day is.
[[nodiscard]] std::optional<std::chrono::year_month_day> ParseDate(std::string_view text);

[[nodiscard]] std::string DateText(std::chrono::year_month_day date);

// The system clock's day, in UTC: the same on every machine.
[[nodiscard]] std::chrono::year_month_day Today();

// Which overrides and allowances of a budget file have expired, or soon will:
// a line for each, with file and line. Pure.

// "FILE:LINE: the allowance for ... expired on ...; fix the leak, or set a later date"
[[nodiscard]] std::vector<std::string> ExpiredEntries(const BudgetFile& file,
                                                      std::chrono::year_month_day today);

// Those that still hold today, and no longer after `period`.
[[nodiscard]] std::vector<std::string> ExpiringEntries(const BudgetFile& file,
                                                       std::chrono::year_month_day today,
                                                       std::chrono::days period);

}  // namespace leakgate
