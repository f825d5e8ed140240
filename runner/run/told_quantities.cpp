#include "runner/run/told_quantities.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/applied_budget.h"
#include "runner/symbols/named_functions.h"

namespace leakgate {
namespace {

Unexpected NotTold(std::string_view place, std::string_view key) {
  return UsageError(fmt::format(
      "{}: \"{}\": leakgate does not tell that on this system; leave it out", place, key));
}

std::string PlaceIn(const BudgetFile& file, int line) {
  return fmt::format("{}:{}", PathText(file.path), line);
}

struct FoundLimit {
  Quantity quantity;
  int line;
};

// Returns a limit on what `is_wanted` names.
template <typename IsWanted>
std::optional<FoundLimit> FindLimit(const WindowLimits& limits, const IsWanted& is_wanted) {
  for (const AmountQuantity& amount : kAmountQuantities) {
    const AmountLimits& of_it = limits.*amount.limits;
    const std::optional<Limit>& limit = of_it.bytes ? of_it.bytes : of_it.blocks;
    if (limit && is_wanted(amount.quantity)) return FoundLimit{amount.quantity, limit->line};
  }
  for (const NumberQuantity& number : kNumberQuantities) {
    const std::optional<Limit>& limit = limits.*number.limit;
    if (limit && is_wanted(number.quantity)) return FoundLimit{number.quantity, limit->line};
  }
  return std::nullopt;
}

std::optional<FoundLimit> FindUntold(const ScopedLimits& scoped) {
  for (const WindowLimits* const limits :
       {&scoped.test, &scoped.suite, &scoped.program, &scoped.process}) {
    const auto is_untold = [](Quantity quantity) { return !IsTold(quantity); };
    if (auto found = FindLimit(*limits, is_untold)) return found;
  }
  return std::nullopt;
}

// Without the agent, there are neither tests nor suites, and no thread is seen to free what it has
// just allocated.
Expected<void> RefuseWithoutAgent(const BudgetFile& file, const ScopedLimits& scoped) {
  const auto any = [](Quantity) { return true; };
  const auto temporary = [](Quantity quantity) { return quantity == Quantity::kTemporary; };
  const std::pair<std::optional<FoundLimit>, const char*> found[] = {
      {FindLimit(scoped.test, any), "test"},
      {FindLimit(scoped.suite, any), "suite"},
      {FindLimit(scoped.program, temporary), Word(Quantity::kTemporary)}};
  for (const auto& [limit, key] : found) {
    if (!limit) continue;
    return UsageError(
        fmt::format("{}: \"{}\": Windows' heap tracing does not tell that; leave it out, or let "
                    "leakgate's agent trace",
                    PlaceIn(file, limit->line), key));
  }
  return {};
}

Expected<void> RefuseUntoldIn(const BudgetFile& file) {
  std::optional<FoundLimit> found = FindUntold(file.limits);
  for (auto it = file.overrides.begin(); !found && it != file.overrides.end(); ++it) {
    found = FindUntold(it->limits);
  }
  if (found) return NotTold(PlaceIn(file, found->line), Word(found->quantity));
  if (!file.processes.empty() && !FollowsProcesses()) {
    return NotTold(PlaceIn(file, file.processes.front().line), "processes");
  }
  if (!file.allocators.empty() && !FindsNamedFunctions()) {
    return NotTold(PlaceIn(file, file.allocators.front().line), "allocators");
  }
  if (file.thread_scope == ThreadScope::kTest && !KnowsThreadStarts()) {
    return NotTold(PathText(file.path), "threads");
  }
  return {};
}

}  // namespace

Expected<void> RefuseUntold(const std::vector<BudgetFile>& files, HeapEngine engine) {
  for (const BudgetFile& file : files) {
    LEAKGATE_TRY(RefuseUntoldIn(file));
    if (engine == HeapEngine::kAgent) continue;
    LEAKGATE_TRY(RefuseWithoutAgent(file, file.limits));
    for (const Override& it : file.overrides) LEAKGATE_TRY(RefuseWithoutAgent(file, it.limits));
  }
  return {};
}

}  // namespace leakgate
