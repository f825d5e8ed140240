// Dates as budget files write them: "2026-01-31". Pure, but for Today.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace leakgate {

// The day that `text` names; nullopt if it is not written so, or no such day is.
[[nodiscard]] std::optional<std::chrono::year_month_day> ParseDate(std::string_view text);

[[nodiscard]] std::string DateText(std::chrono::year_month_day date);

// The system clock's day, in UTC: the same on every machine.
[[nodiscard]] std::chrono::year_month_day Today();

}  // namespace leakgate
