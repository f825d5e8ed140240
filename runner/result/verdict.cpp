#include "runner/result/verdict.h"

#include <algorithm>
#include <utility>

#include "runner/budget/applied_budget.h"

namespace leakgate {
namespace {

class Violations {
 public:
  explicit Violations(const std::string& component) : component_(component) {}

  void Add(std::string metric, std::int64_t actual, const std::optional<AppliedLimit>& limit,
           Amount amount = {}) {
    if (!limit || actual <= limit->value) return;
    found_.push_back({std::move(metric), actual, *limit, component_, amount});
  }
  void Add(const std::string& metric, Amount actual, const AppliedAmountLimits& limits) {
    Add(metric + "_bytes", actual.bytes, limits.bytes, actual);
    Add(metric + "_blocks", actual.blocks, limits.blocks, actual);
  }
  void Add(std::string metric, const std::optional<std::int64_t>& actual,
           const std::optional<AppliedLimit>& limit) {
    if (actual) Add(std::move(metric), *actual, limit);
  }

  std::vector<Violation> Take() { return std::move(found_); }

 private:
  const std::string& component_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget) {
  Violations violations(budget.component);
  violations.Add("outstanding", measured.outstanding, budget.outstanding);
  violations.Add("lost", measured.lost, budget.lost);
  violations.Add("retained", measured.retained, budget.retained);
  violations.Add("growth", measured.growth, budget.growth);
  violations.Add("allocated", measured.allocated, budget.allocated);
  violations.Add("peak_bytes", measured.peak_bytes, budget.peak_bytes);
  violations.Add("mapped", measured.mapped, budget.mapped);
  violations.Add("file_descriptors", measured.file_descriptors, budget.file_descriptors);
  violations.Add("threads", measured.threads, budget.threads);
  return violations.Take();
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
