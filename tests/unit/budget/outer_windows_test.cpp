// The budgets of suite and program windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/result/window_result.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

const std::vector<TestId> kSuite = {{"A.One", ""}, {"A.Two", ""}};

// A file with 10 bytes outstanding per suite, and an override of 99 for `overridden`.
BudgetSet SuiteSet(const std::string& overridden) {
  return BudgetSet({GoodBudget("a.leakgate.json", R"({"component": "a", "owner": "team-a",
    "limits": {"suite": {"outstanding": {"bytes": 10}}},
    "overrides": [{"tests": )" + overridden + R"(,
      "limits": {"suite": {"outstanding": {"bytes": 99}}}, "reason": "a fixture"}]})")},
                   "all_tests");
}

TEST(SuiteBudgetTest, ComesFromTheFileThatCoversAllTests) {
  const AppliedBudget budget = ValueOf(SuiteSet(R"(["B.*"])").ForSuite(kSuite));
  EXPECT_EQ(budget.component, "a");
  EXPECT_EQ(budget.owner, "team-a");
  ASSERT_TRUE(budget.outstanding.bytes);
  EXPECT_EQ(budget.outstanding.bytes->value, 10);
  EXPECT_EQ(budget.outstanding.bytes->source.line, 2);
}

TEST(SuiteBudgetTest, IsOverriddenWhereAnOverrideMatchesAllTests) {
  EXPECT_EQ(ValueOf(SuiteSet(R"(["A.*"])").ForSuite(kSuite)).outstanding.bytes->value, 99);
  EXPECT_EQ(ValueOf(SuiteSet(R"(["A.One", "A.Two"])").ForSuite(kSuite)).outstanding.bytes->value,
            99);
}

TEST(SuiteBudgetTest, IsNotOverriddenWhereAnOverrideMatchesSomeTests) {
  EXPECT_EQ(ValueOf(SuiteSet(R"(["A.One"])").ForSuite(kSuite)).outstanding.bytes->value, 10);
}

TEST(SuiteBudgetTest, HasNoDefaultLimits) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a"})")}, "all_tests");
  const AppliedBudget budget = ValueOf(set.ForSuite(kSuite));
  EXPECT_EQ(budget.component, "a");
  EXPECT_FALSE(IsGated(budget));
}

TEST(SuiteBudgetTest, IsNoOnesWhereTestsBelongToSeveralFiles) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a", "tests": ["A.One"],
                             "limits": {"suite": {"growth": {"bytes": 0}}}})"),
                       GoodBudget("b.leakgate.json", R"({"component": "b", "tests": ["A.Two"]})")},
                      "all_tests");
  const AppliedBudget budget = ValueOf(set.ForSuite(kSuite));
  EXPECT_EQ(budget.component, "");
  EXPECT_FALSE(IsGated(budget));
}

TEST(SuiteBudgetTest, IsNoOnesWhereATestIsNotCovered) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a", "tests": ["A.One"],
                             "limits": {"suite": {"growth": {"bytes": 0}}}})")},
                      "all_tests");
  EXPECT_EQ(ValueOf(set.ForSuite(kSuite)).component, "");
}

TEST(SuiteBudgetTest, IsNoOnesWithoutTests) {
  EXPECT_EQ(ValueOf(SuiteSet(R"(["A.*"])").ForSuite({})).component, "");
}

TEST(SuiteBudgetTest, RefusesTwoFilesThatClaimATest) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a"})"),
                       GoodBudget("b.leakgate.json", R"({"component": "b", "tests": ["A.Two"]})")},
                      "all_tests");
  const Expected<AppliedBudget> budget = set.ForSuite(kSuite);
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().message,
            "a.leakgate.json and b.leakgate.json: both cover A.Two, and neither is nearer to its "
            "source file; narrow \"tests\" or \"binaries\" in one of them, or move it next to the "
            "test");
}

constexpr const char* kProgramLimits =
    R"({"component": "a",
        "limits": {"program": {"growth": {"blocks": 4},
                               "outstanding": {"bytes": 10}}}})";

TEST(ProgramBudgetTest, ComesFromTheOneFileThatLimitsIt) {
  const BudgetSet set({GoodBudget("b.leakgate.json", R"({"component": "b"})"),
                       GoodBudget("a.leakgate.json", kProgramLimits)},
                      "all_tests");
  const AppliedBudget budget = ValueOf(set.ForProgram());
  EXPECT_EQ(budget.component, "a");
  ASSERT_TRUE(budget.outstanding.bytes && budget.growth.blocks);
  EXPECT_EQ(budget.outstanding.bytes->value, 10);
  EXPECT_EQ(budget.outstanding.bytes->source.line, 3);
  EXPECT_EQ(budget.growth.blocks->value, 4);
}

TEST(ProgramBudgetTest, BelongsToTheOnlyFileWhereNoneLimitsIt) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a"})")}, "all_tests");
  const AppliedBudget budget = ValueOf(set.ForProgram());
  EXPECT_EQ(budget.component, "a");
  EXPECT_FALSE(IsGated(budget));
}

TEST(ProgramBudgetTest, IsNoOnesWhereSeveralFilesApplyAndNoneLimitsIt) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a"})"),
                       GoodBudget("b.leakgate.json", R"({"component": "b"})")},
                      "all_tests");
  EXPECT_EQ(ValueOf(set.ForProgram()).component, "");
}

TEST(ProgramBudgetTest, IsNotOverriddenByAnOverrideOfEveryTest) {
  const BudgetSet set({GoodBudget("a.leakgate.json", R"({"component": "a",
    "limits": {"program": {"outstanding": {"bytes": 10}}},
    "overrides": [{"tests": ["*"], "reason": "x",
                   "limits": {"test": {"outstanding": {"bytes": 99}}}}]})")},
                      "all_tests");
  EXPECT_EQ(ValueOf(set.ForProgram()).outstanding.bytes->value, 10);
}

TEST(ProgramBudgetTest, RefusesTwoFilesThatLimitIt) {
  const BudgetSet set({GoodBudget("a.leakgate.json", kProgramLimits),
                       GoodBudget("b.leakgate.json", kProgramLimits)},
                      "/build/all_tests");
  const std::string message =
      "b.leakgate.json:2:53: limits.program: a.leakgate.json:2 limits the program "
      "all_tests "
      "as well; remove one of the two, or narrow \"binaries\" in one of the files";

  const Expected<AppliedBudget> budget = set.ForProgram();
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().message, message);
  EXPECT_EQ(budget.error().exit_code, ExitCode::kUsage);

  const Expected<void> check = set.Check({});
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().message, message);
}

}  // namespace
}  // namespace leakgate
