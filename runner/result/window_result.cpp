#include "runner/result/window_result.h"

#include <algorithm>
#include <utility>

#include "runner/budget/applied_budget.h"

namespace leakgate {
namespace {

class Violations {
 public:
  explicit Violations(const AppliedBudget& budget) : budget_(budget) {}

  void Add(const AmountQuantity& quantity, Amount actual) {
    const AppliedAmountLimits& limits = budget_.*quantity.applied;
    Add(MetricOf(quantity.quantity, MetricUnit::kBytes), actual.bytes, limits.bytes, actual);
    Add(MetricOf(quantity.quantity, MetricUnit::kBlocks), actual.blocks, limits.blocks, actual);
  }
  void Add(const NumberQuantity& quantity, const std::optional<std::int64_t>& actual) {
    if (!actual) return;
    const MetricUnit unit = quantity.in_bytes ? MetricUnit::kBytes : MetricUnit::kNumber;
    Add(MetricOf(quantity.quantity, unit), *actual, budget_.*quantity.applied, {});
  }

  std::vector<Violation> Take() { return std::move(found_); }

 private:
  void Add(Metric metric, std::int64_t actual, const std::optional<AppliedLimit>& limit,
           Amount amount) {
    if (!limit || actual <= limit->value) return;
    found_.push_back({metric, actual, *limit, budget_.component, amount});
  }

  const AppliedBudget& budget_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget) {
  Violations violations(budget);
  violations.Add(quantity::kOutstanding, measured.outstanding);
  violations.Add(quantity::kLost, measured.lost);
  violations.Add(quantity::kRetained, measured.retained);
  violations.Add(quantity::kGrowth, measured.growth);
  violations.Add(quantity::kAllocated, measured.allocated);
  if (measured.temporary) violations.Add(quantity::kTemporary, *measured.temporary);
  violations.Add(quantity::kPeak, measured.peak_bytes);
  violations.Add(quantity::kMapped, measured.mapped);
  violations.Add(quantity::kFileDescriptors, measured.file_descriptors);
  violations.Add(quantity::kThreads, measured.threads);
  return violations.Take();
}

bool IsOfActivity(const Violation& violation) {
  const Quantity quantity = QuantityOf(violation.metric);
  return quantity == Quantity::kAllocated || quantity == Quantity::kTemporary ||
         quantity == Quantity::kPeak;
}

bool IsGated(const AppliedBudget& budget) {
  const auto limits_amount = [&](const AmountQuantity& it) {
    return IsLimited(budget.*it.applied);
  };
  const auto limits_number = [&](const NumberQuantity& it) {
    return (budget.*it.applied).has_value();
  };
  return std::any_of(kAmountQuantities.begin(), kAmountQuantities.end(), limits_amount) ||
         std::any_of(kNumberQuantities.begin(), kNumberQuantities.end(), limits_number);
}

}  // namespace leakgate
