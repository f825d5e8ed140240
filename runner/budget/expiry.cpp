#include "runner/budget/expiry.h"

#include <fmt/format.h>

#include "runner/budget/apply_limits.h"
#include "runner/budget/date.h"

namespace leakgate {
namespace {

// "FILE:LINE: the override for ..." and its date.
struct Entry {
  std::string text;
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
