#include "runner/budget/apply_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <tuple>

#include "runner/base/path_text.h"
#include "runner/budget/applied_budget.h"
#include "runner/budget/wording.h"

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
    entries.push_back({fmt::format("{}:{}: the override for {}", PathText(file.path), it.line,
                                   fmt::join(it.tests, ", ")),
                       *it.expires});
  }
  for (const Allowance& it : file.allowances) {
    if (!it.expires) continue;
    entries.push_back({fmt::format("{}:{}: the allowance for {}", PathText(file.path), it.line,
                                   fmt::join(it.stack, " < ")),
                       *it.expires});
  }
  return entries;
}

bool IsSet(const AmountLimits& limits) { return limits.bytes || limits.blocks; }

bool Applies(const Override& candidate, const BudgetedWindow& window) {
  return !HasExpired(candidate.expires, window.today) &&
         MatchesAllTests(candidate.tests, window.tests);
}

// Returns the last override that applies to `window` and for which `sets` returns true, or nullptr.
template <typename Sets>
const Override* FindLastOverride(const BudgetFile& file, const BudgetedWindow& window,
                                 const Sets& sets) {
  const auto last =
      std::find_if(file.overrides.rbegin(), file.overrides.rend(),
                   [&](const Override& it) { return sets(it) && Applies(it, window); });
  return last == file.overrides.rend() ? nullptr : &*last;
}

std::optional<AppliedLimit> ApplyLimit(const std::optional<Limit>& limit, const BudgetFile& file,
                                       const Override* from) {
  if (!limit) return std::nullopt;
  return AppliedLimit{limit->value,
                      {PathText(file.path), limit->line, from == nullptr ? "" : from->reason}};
}

AppliedAmountLimits ApplyAmount(const BudgetFile& file, const BudgetedWindow& window,
                                AmountLimits WindowLimits::*quantity) {
  const Override* const from = FindLastOverride(file, window, [&](const Override& it) {
    return IsSet(it.limits.For(window.kind).*quantity);
  });
  const ScopedLimits& scoped = from == nullptr ? file.limits : from->limits;
  const AmountLimits& limits = scoped.For(window.kind).*quantity;
  return {ApplyLimit(limits.bytes, file, from), ApplyLimit(limits.blocks, file, from)};
}

std::optional<AppliedLimit> ApplyNumber(const BudgetFile& file, const BudgetedWindow& window,
                                        std::optional<Limit> WindowLimits::*quantity) {
  const Override* const from = FindLastOverride(file, window, [&](const Override& it) {
    return (it.limits.For(window.kind).*quantity).has_value();
  });
  const ScopedLimits& scoped = from == nullptr ? file.limits : from->limits;
  return ApplyLimit(scoped.For(window.kind).*quantity, file, from);
}

FreeBy ApplyFreeBy(const BudgetFile& file, const BudgetedWindow& window) {
  const Override* const from =
      FindLastOverride(file, window, [](const Override& it) { return it.free_by.has_value(); });
  return (from == nullptr ? file.free_by : from->free_by).value_or(FreeBy::kTest);
}

std::optional<std::int64_t> ValueOf(const std::optional<Limit>& limit) {
  if (!limit) return std::nullopt;
  return limit->value;
}

std::vector<AppliedAllowance> ApplyAllowances(const BudgetFile& file,
                                              const BudgetedWindow& window) {
  std::vector<AppliedAllowance> applied;
  for (const Allowance& allowance : file.allowances) {
    if (HasExpired(allowance.expires, window.today)) continue;
    if (!allowance.tests.empty() && !MatchesAllTests(allowance.tests, window.tests)) continue;
    applied.push_back({.stack = allowance.stack,
                       .bytes = ValueOf(allowance.bytes),
                       .blocks = ValueOf(allowance.blocks),
                       .source = {PathText(file.path), allowance.line, allowance.reason},
                       .owner = allowance.owner,
                       .issue = allowance.issue,
                       .expires = allowance.expires});
  }
  return applied;
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

AppliedBudget ApplyLimits(const BudgetFile& file, const BudgetedWindow& window) {
  AppliedBudget budget;
  budget.component = file.component;
  budget.owner = file.owner;
  budget.file = PathText(file.path);
  for (const AmountQuantity& quantity : kAmountQuantities) {
    budget.*quantity.applied = ApplyAmount(file, window, quantity.limits);
  }
  for (const NumberQuantity& quantity : kNumberQuantities) {
    budget.*quantity.applied = ApplyNumber(file, window, quantity.limit);
  }
  budget.free_by = ApplyFreeBy(file, window);
  budget.confirm = file.confirm;
  budget.shows_contents = file.contents.value_or(true);
  budget.thread_scope = file.thread_scope.value_or(ThreadScope::kProcess);
  budget.allowances = ApplyAllowances(file, window);
  return budget;
}

bool MatchesAllTests(const std::vector<std::string>& patterns,
                     const std::vector<std::string>& tests) {
  return !tests.empty() && std::all_of(tests.begin(), tests.end(), [&](const std::string& test) {
    return MatchesAnyFilter(patterns, test);
  });
}

std::optional<Limit> FirstLimit(const WindowLimits& limits) {
  std::optional<Limit> first;
  const auto consider = [&first](const std::optional<Limit>& limit) {
    if (!limit) return;
    if (!first || std::tie(limit->line, limit->column) < std::tie(first->line, first->column)) {
      first = limit;
    }
  };
  for (const AmountQuantity& quantity : kAmountQuantities) {
    consider((limits.*quantity.limits).bytes);
    consider((limits.*quantity.limits).blocks);
  }
  for (const NumberQuantity& quantity : kNumberQuantities) consider(limits.*quantity.limit);
  return first;
}

}  // namespace leakgate
