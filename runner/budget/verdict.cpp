#include "runner/budget/verdict.h"

#include <utility>

namespace leakgate {
namespace {

void AddIfExceeded(std::vector<Violation>& violations, std::string metric, std::int64_t actual,
                   const std::optional<AppliedLimit>& limit) {
  if (!limit || actual <= limit->value) return;
  violations.push_back({std::move(metric), actual, *limit});
}

bool IsLimited(const AppliedAmountLimits& limits) { return limits.bytes || limits.blocks; }

}  // namespace

std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget) {
  std::vector<Violation> violations;
  AddIfExceeded(violations, "outstanding_bytes", measured.outstanding.bytes,
                budget.outstanding.bytes);
  AddIfExceeded(violations, "outstanding_blocks", measured.outstanding.blocks,
                budget.outstanding.blocks);
  AddIfExceeded(violations, "growth_bytes", measured.growth.bytes, budget.growth.bytes);
  AddIfExceeded(violations, "growth_blocks", measured.growth.blocks, budget.growth.blocks);
  return violations;
}

bool IsGated(const AppliedBudget& budget) {
  return IsLimited(budget.outstanding) || IsLimited(budget.growth);
}

}  // namespace leakgate
