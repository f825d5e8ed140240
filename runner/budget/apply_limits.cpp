#include "runner/budget/apply_limits.h"

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

using Metric = AmountLimits WindowLimits::*;

bool IsSet(const AmountLimits& limits) { return limits.bytes || limits.blocks; }

std::optional<AppliedLimit> ApplyLimit(const std::optional<Limit>& limit, const BudgetFile& file,
                                       const std::string& reason) {
  if (!limit) return std::nullopt;
  return AppliedLimit{limit->value, {file.path.string(), limit->line, reason}};
}

bool MatchesAll(const Override& candidate, const std::vector<std::string>& tests) {
  return !tests.empty() && std::all_of(tests.begin(), tests.end(), [&](const std::string& test) {
    return MatchesAnyFilter(candidate.tests, test);
  });
}

AppliedAmountLimits ApplyMetric(const BudgetFile& file, WindowKind kind, Metric metric,
                                const std::vector<std::string>& tests) {
  const auto last = std::find_if(
      file.overrides.rbegin(), file.overrides.rend(),
      [&](const Override& o) { return IsSet(o.limits.For(kind).*metric) && MatchesAll(o, tests); });
  const bool overridden = last != file.overrides.rend();
  const AmountLimits& limits = (overridden ? last->limits : file.limits).For(kind).*metric;
  const std::string reason = overridden ? last->reason : "";
  return {ApplyLimit(limits.bytes, file, reason), ApplyLimit(limits.blocks, file, reason)};
}

std::array<std::optional<Limit>, 4> All(const WindowLimits& limits) {
  return {limits.outstanding.bytes, limits.outstanding.blocks, limits.growth.bytes,
          limits.growth.blocks};
}

}  // namespace

AppliedBudget ApplyLimits(const BudgetFile& file, WindowKind kind,
                          const std::vector<std::string>& tests) {
  AppliedBudget budget;
  budget.component = file.component;
  budget.owner = file.owner;
  budget.outstanding = ApplyMetric(file, kind, &WindowLimits::outstanding, tests);
  budget.growth = ApplyMetric(file, kind, &WindowLimits::growth, tests);
  return budget;
}

AppliedBudget WithDefault(AppliedBudget budget) { return budget; }

bool SetsAnyLimit(const WindowLimits& limits) {
  return IsSet(limits.outstanding) || IsSet(limits.growth);
}

int FirstLine(const WindowLimits& limits) {
  int first = 0;
  for (const std::optional<Limit>& limit : All(limits)) {
    if (limit && (first == 0 || limit->line < first)) first = limit->line;
  }
  return first;
}

}  // namespace leakgate
