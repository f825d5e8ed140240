#include "runner/run/told_quantities.h"

#include <fmt/format.h>

#include <optional>

#include "runner/base/path_text.h"
#include "runner/budget/applied_budget.h"

namespace leakgate {
namespace {

Unexpected NotTold(std::string_view place, std::string_view key) {
  return UsageError(fmt::format(
      "{}: \"{}\": leakgate does not tell that on this system; leave it out", place, key));
}

std::string PlaceIn(const BudgetFile& file, int line) {
  return fmt::format("{}:{}", PathText(file.path), line);
}

struct UntoldLimit {
  Quantity quantity;
  int line;
};

std::optional<UntoldLimit> FindUntold(const WindowLimits& limits) {
  for (const AmountQuantity& amount : kAmountQuantities) {
    const AmountLimits& of_it = limits.*amount.limits;
    const std::optional<Limit>& limit = of_it.bytes ? of_it.bytes : of_it.blocks;
    if (limit && !IsTold(amount.quantity)) return UntoldLimit{amount.quantity, limit->line};
  }
  for (const NumberQuantity& number : kNumberQuantities) {
    const std::optional<Limit>& limit = limits.*number.limit;
    if (limit && !IsTold(number.quantity)) return UntoldLimit{number.quantity, limit->line};
  }
  return std::nullopt;
}

std::optional<UntoldLimit> FindUntold(const ScopedLimits& scoped) {
  for (const WindowLimits* const limits :
       {&scoped.test, &scoped.suite, &scoped.program, &scoped.process}) {
    if (auto found = FindUntold(*limits)) return found;
  }
  return std::nullopt;
}

Expected<void> RefuseUntoldIn(const BudgetFile& file) {
  std::optional<UntoldLimit> found = FindUntold(file.limits);
  for (auto it = file.overrides.begin(); !found && it != file.overrides.end(); ++it) {
    found = FindUntold(it->limits);
  }
  if (found) return NotTold(PlaceIn(file, found->line), Word(found->quantity));
  if (!file.processes.empty() && !FollowsProcesses()) {
    return NotTold(PlaceIn(file, file.processes.front().line), "processes");
  }
  if (file.thread_scope == ThreadScope::kTest && !KnowsThreadStarts()) {
    return NotTold(PathText(file.path), "threads");
  }
  return {};
}

}  // namespace

Expected<void> RefuseUntold(const std::vector<BudgetFile>& files) {
  for (const BudgetFile& file : files) LEAKGATE_TRY(RefuseUntoldIn(file));
  return {};
}

}  // namespace leakgate
