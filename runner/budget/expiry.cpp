#include "runner/budget/expiry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace leakgate {
namespace {

constexpr std::string_view kShape = "0000-00-00";  // 0 stands for any digit

bool HasShape(std::string_view text) {
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(), [](char c, char shape) {
    return shape == '0' ? c >= '0' && c <= '9' : c == shape;
  });
}

// REQUIRES: `digits` contains nothing but digits.
unsigned Number(std::string_view digits) {
  unsigned number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

struct Entry {
  std::string text;  // "FILE:LINE: the override for ..."
  std::chrono::year_month_day expires;
};

std::vector<Entry> EntriesWithDates(const BudgetFile& file) {
  std::vector<Entry> entries;
  for (const Override& it : file.overrides) {
    if (!it.expires) continue;
    entries.push_back({fmt::format("{}:{}: the override for {}", file.path.string(), it.line,
                                   fmt::join(it.tests, ", ")),
                       *it.expires});
  }
  for (const Allowance& it : file.allowances) {
    if (!it.expires) continue;
    entries.push_back({fmt::format("{}:{}: the allowance for {}", file.path.string(), it.line,
                                   fmt::join(it.stack, " < ")),
                       *it.expires});
  }
  return entries;
}

}  // namespace

std::optional<std::chrono::year_month_day> ParseDate(std::string_view text) {
  if (!HasShape(text)) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(Number(text.substr(0, 4)))),
      std::chrono::month(Number(text.substr(5, 2))), std::chrono::day(Number(text.substr(8, 2)))};
  if (!date.ok()) return std::nullopt;
  return date;
}

std::string DateText(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::chrono::year_month_day Today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

bool HasExpired(const std::optional<std::chrono::year_month_day>& expires,
                std::chrono::year_month_day today) {
  return expires && *expires < today;
}

std::vector<std::string> ExpiredEntries(const BudgetFile& file, std::chrono::year_month_day today) {
  std::vector<std::string> lines;
  for (const Entry& entry : EntriesWithDates(file)) {
    if (!HasExpired(entry.expires, today)) continue;
    lines.push_back(fmt::format("{} expired on {}; fix the leak, or set a later date", entry.text,
                                DateText(entry.expires)));
  }
  return lines;
}

std::vector<std::string> ExpiringEntries(const BudgetFile& file, std::chrono::year_month_day today,
                                         std::chrono::days period) {
  const std::chrono::year_month_day end = std::chrono::sys_days(today) + period;
  std::vector<std::string> lines;
  for (const Entry& entry : EntriesWithDates(file)) {
    if (HasExpired(entry.expires, today) || entry.expires > end) continue;
    lines.push_back(fmt::format("{} expires on {}; fix the leak before, or set a later date",
                                entry.text, DateText(entry.expires)));
  }
  return lines;
}

}  // namespace leakgate
