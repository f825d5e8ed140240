// How overrides change the limits of test windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/budget/budget_set.h"
#include "runner/budget/read_budget.h"

namespace leakgate {
namespace {

// A file with 10 bytes and 1 block outstanding, 20 bytes of growth, and `overrides`.
BudgetSet With(const std::string& overrides) {
  const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", R"({"component": "net",
    "limits": {"test": {"outstanding": {"bytes": 10, "blocks": 1}, "growth": {"bytes": 20}}},
    "overrides": [)" + overrides + "]}");
  if (!file) ADD_FAILURE() << file.error().message;
  return BudgetSet({file.value_or(BudgetFile{})}, "net_test");
}

AppliedBudget ForTest(const BudgetSet& set, const std::string& name) {
  const Expected<AppliedBudget> budget = set.ForTest({name, ""});
  if (!budget) ADD_FAILURE() << budget.error().message;
  return budget.value_or(AppliedBudget{});
}

std::string OutstandingBytes(int bytes, const std::string& tests) {
  return R"({"tests": [")" + tests + R"("], "limits": {"test": {"outstanding": {"bytes": )" +
         std::to_string(bytes) + R"(}}}, "reason": "because of )" + tests + "\"}";
}

TEST(OverrideTest, AppliesToTheTestsThatItMatches) {
  const BudgetSet set = With(OutstandingBytes(99, "HttpTest.KeepAlive"));
  EXPECT_EQ(ForTest(set, "HttpTest.KeepAlive").outstanding.bytes->value, 99);
  EXPECT_EQ(ForTest(set, "HttpTest.Get").outstanding.bytes->value, 10);
}

TEST(OverrideTest, ReplacesTheWholeOutstandingObject) {
  const BudgetSet set = With(OutstandingBytes(99, "*"));
  EXPECT_FALSE(ForTest(set, "A.One").outstanding.blocks);
}

TEST(OverrideTest, LeavesTheMetricThatItDoesNotSet) {
  const AppliedBudget budget = ForTest(With(OutstandingBytes(99, "*")), "A.One");
  ASSERT_TRUE(budget.growth.bytes);
  EXPECT_EQ(budget.growth.bytes->value, 20);
  EXPECT_EQ(budget.growth.bytes->source.reason, "");
}

TEST(OverrideTest, GivesItsReasonAndLineToTheLimit) {
  const AppliedBudget budget = ForTest(With("\n" + OutstandingBytes(99, "A.*")), "A.One");
  EXPECT_EQ(budget.outstanding.bytes->source.file, "net.leakgate.json");
  EXPECT_EQ(budget.outstanding.bytes->source.line, 4);
  EXPECT_EQ(budget.outstanding.bytes->source.reason, "because of A.*");
}

TEST(OverrideTest, YieldsToALaterOneThatMatches) {
  const BudgetSet set = With(OutstandingBytes(1, "A.*") + "," + OutstandingBytes(2, "*") + "," +
                             OutstandingBytes(3, "B.*"));
  EXPECT_EQ(ForTest(set, "A.One").outstanding.bytes->value, 2);
  EXPECT_EQ(ForTest(set, "B.One").outstanding.bytes->value, 3);
}

TEST(OverrideTest, DoesNotYieldToALaterOneThatSetsAnotherMetric) {
  const BudgetSet set = With(OutstandingBytes(1, "*") + R"(,
      {"tests": ["*"], "limits": {"test": {"growth": {"blocks": 5}}}, "reason": "x"})");
  const AppliedBudget budget = ForTest(set, "A.One");
  EXPECT_EQ(budget.outstanding.bytes->value, 1);
  EXPECT_EQ(budget.growth.blocks->value, 5);
  EXPECT_FALSE(budget.growth.bytes);
}

TEST(OverrideTest, ForSuitesLeavesTestsAlone) {
  const BudgetSet set = With(
      R"({"tests": ["*"], "limits": {"suite": {"outstanding": {"bytes": 99}}}, "reason": "x"})");
  EXPECT_EQ(ForTest(set, "A.One").outstanding.bytes->value, 10);
}

}  // namespace
}  // namespace leakgate
