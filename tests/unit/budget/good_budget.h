// Budgets of tests that expect no error. An error fails the test, and gives an empty value.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "runner/budget/applied_budget.h"
#include "runner/budget/read_budget.h"

namespace leakgate {

template <typename T>
T ValueOf(const Expected<T>& expected) {
  if (!expected) ADD_FAILURE() << expected.error().message;
  return expected.value_or(T{});
}

inline BudgetFile GoodBudget(const std::filesystem::path& path, const std::string& text) {
  return ValueOf(ParseBudgetFile(path, text));
}

}  // namespace leakgate
