// Names of files in budgets, which compilers and users of Windows write in other letters than the
// file's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/base/path_text.h"
#include "runner/budget/budget_set.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

// The file has letters that are not of ASCII.
BudgetFile ForNames(std::string_view path, const std::string& members) {
  return GoodBudget(PathOf(path), "{" + members + "}");
}

std::string ComponentFor(const BudgetSet& set, const TestId& test) {
  const Expected<AppliedBudget> budget = set.ForTest(test);
  return budget ? budget->component : budget.error().message;
}

TEST(ComparedNamesTest, AreThoseOfProgramsToo) {
  const BudgetFile net =
      ForNames("net.leakgate.json", R"("component": "net", "binaries": ["Größe_*.EXE"])");
  const auto component_in = [&](std::string_view program) {
    return ComponentFor(BudgetSet({net}, PathOf(program)), {"A.One", ""});
  };
  EXPECT_EQ(component_in("Größe_test.EXE"), "net");
  EXPECT_EQ(component_in("GRÖßE_TEST.exe"), kFoldsNames ? "net" : "");
  EXPECT_EQ(component_in("GRÖSSE_TEST.exe"), "");
}

TEST(ComparedNamesTest, AreThoseOfFoldersToo) {
  const BudgetSet set(
      {ForNames("/repo/Über/net.leakgate.json", R"("component": "net", "tests": ["A.*"])"),
       ForNames("/repo/all.leakgate.json", R"("component": "all", "tests": ["A.*"])")},
      "net_test");
  EXPECT_EQ(ComponentFor(set, {"A.One", "/repo/Über/a.cpp"}), "net");
  EXPECT_EQ(ComponentFor(set, {"A.One", "/repo/über/a.cpp"}), kFoldsNames ? "net" : "all");
}

}  // namespace
}  // namespace leakgate
