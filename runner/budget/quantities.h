// The table of the quantities that a budget limits. Code that treats all quantities alike
// (applying, explaining, tightening) goes through it, and so forgets none.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "runner/budget/applied_budget.h"

namespace leakgate {

// A quantity that is limited in bytes and in blocks.
struct AmountQuantity {
  std::string_view key;
  AmountLimits WindowLimits::*limits;
  AppliedAmountLimits AppliedBudget::*applied;
};

// A quantity that is limited by one number.
struct NumberQuantity {
  std::string_view key;
  std::optional<Limit> WindowLimits::*limit;
  std::optional<AppliedLimit> AppliedBudget::*applied;
  bool in_bytes;  // false: the number is a count
};

inline constexpr std::array kAmountQuantities = {
    AmountQuantity{"outstanding", &WindowLimits::outstanding, &AppliedBudget::outstanding},
    AmountQuantity{"lost", &WindowLimits::lost, &AppliedBudget::lost},
    AmountQuantity{"retained", &WindowLimits::retained, &AppliedBudget::retained},
    AmountQuantity{"growth", &WindowLimits::growth, &AppliedBudget::growth},
    AmountQuantity{"allocated", &WindowLimits::allocated, &AppliedBudget::allocated},
    AmountQuantity{"mapped", &WindowLimits::mapped, &AppliedBudget::mapped},
};

inline constexpr std::array kNumberQuantities = {
    NumberQuantity{"peak", &WindowLimits::peak_bytes, &AppliedBudget::peak_bytes, true},
    NumberQuantity{"file_descriptors", &WindowLimits::file_descriptors,
                   &AppliedBudget::file_descriptors, false},
    NumberQuantity{"threads", &WindowLimits::threads, &AppliedBudget::threads, false},
};

}  // namespace leakgate
