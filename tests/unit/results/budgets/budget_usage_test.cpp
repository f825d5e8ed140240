#include "runner/results/budgets/budget_usage.h"

#include <gmock/gmock.h>

#include "runner/budget/read_budget.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

BudgetSet Set(const std::string& members) {
  const Expected<BudgetFile> file =
      ParseBudgetFile("a.json", "{\"component\": \"net\",\n" + members + "}");
  if (!file) ADD_FAILURE() << file.error().message;
  return {{file.value_or(BudgetFile{})}, "net_test"};
}

BudgetUsage Usage(const BudgetSet& set, const RunResult& result) {
  return UsageOf(*set.Files().at(0), set, result, Today());
}

Finding Covered(const std::string& allowance, Amount amount) {
  Finding finding;
  finding.allowance = allowance;
  finding.amount = amount;
  return finding;
}

WindowResult Window(const std::string& name, WindowKind kind = WindowKind::kTest) {
  WindowResult window;
  window.name = name;
  window.kind = kind;
  return window;
}

TEST(BudgetUsageTest, IsTheMostThatAnAllowanceCoveredInAnyWindow) {
  RunResult result;
  result.windows = {Window("A.One"), Window("A.Two")};
  result.windows[0].findings = {Covered("a.json:2", {8, 1}), Covered("a.json:2", {8, 1}),
                                Covered("b.json:2", {99, 9})};
  result.windows[1].findings = {Covered("a.json:2", {10, 1})};
  const BudgetSet set = Set(R"("allowances": [{"stack": ["a"], "reason": "x"},
                               {"stack": ["b"], "reason": "x"}])");
  EXPECT_THAT(Usage(set, result).allowances, ElementsAre(Pair(2, Amount{16, 2})));
}

TEST(BudgetUsageTest, IsTheMostThatWasMeasuredInTheTestsOfAnOverride) {
  RunResult result;
  result.windows = {Window("A.One"), Window("A.Two"), Window("B.One")};
  result.windows[0].outstanding = {8, 2};
  result.windows[1].outstanding = {9, 1};
  result.windows[1].growth = {-5, -1};
  result.windows[2].outstanding = {1000, 1000};
  const BudgetSet set = Set(R"("overrides": [
    {"tests": ["A.*"], "reason": "x", "free_by": "suite"},
    {"tests": ["C.*"], "reason": "x", "free_by": "suite"}])");
  const BudgetUsage usage = Usage(set, result);
  ASSERT_EQ(usage.overrides.size(), 1U);
  const MeasuredMaxima& maxima = usage.overrides.at(3);
  EXPECT_EQ(maxima.at("test.outstanding.bytes"), 9);
  EXPECT_EQ(maxima.at("test.outstanding.blocks"), 2);
  EXPECT_EQ(maxima.at("test.growth.bytes"), 0);
  EXPECT_EQ(maxima.count("test.threads"), 0U) << "nothing asked";
}

TEST(BudgetUsageTest, TellsSuitesApart) {
  RunResult result;
  result.windows = {Window("A", WindowKind::kSuite), Window("A.One"), Window("A.Two")};
  result.windows[0].outstanding = {7, 1};
  const BudgetSet set = Set(R"("overrides": [
    {"tests": ["A.*"], "reason": "x", "free_by": "suite"},
    {"tests": ["A.One"], "reason": "x", "free_by": "suite"}])");
  const BudgetUsage usage = Usage(set, result);
  EXPECT_EQ(usage.overrides.at(3).at("suite.outstanding.bytes"), 7);
  EXPECT_EQ(usage.overrides.at(4).count("suite.outstanding.bytes"), 0U);
}

TEST(BudgetUsageTest, DoesNotSayWhatIsLostWhereThatCouldNotBeTold) {
  RunResult result;
  result.windows = {Window("A.One")};
  result.windows[0].reach_problem = "no roots";
  const BudgetSet set = Set(R"("overrides": [{"tests": ["*"], "reason": "x",
                               "free_by": "suite"}])");
  EXPECT_EQ(Usage(set, result).overrides.at(2).count("test.lost.bytes"), 0U);
}

TEST(BudgetUsageTest, LeavesAllowancesForTestsOfOtherBinariesAlone) {
  RunResult result;
  result.windows = {Window("A.One")};
  const BudgetSet set = Set(R"("allowances": [
    {"stack": ["a"], "reason": "x"},
    {"stack": ["a"], "tests": ["A.*"], "reason": "x"},
    {"stack": ["a"], "tests": ["A.*", "B.*"], "reason": "x"}])");
  const BudgetUsage usage = Usage(set, result);
  EXPECT_THAT(usage.of_other_binaries, ElementsAre(5));
}

TEST(BudgetUsageTest, LowersNoOverrideOfCode) {
  RunResult result;
  result.windows = {Window("A.One")};
  const BudgetSet set = Set(R"("code": {"paths": ["net/*"]},
    "overrides": [{"tests": ["A.*"], "reason": "x", "free_by": "suite"}])");
  EXPECT_THAT(Usage(set, result).overrides, ElementsAre(Pair(3, IsEmpty())));
}

TEST(RanAllTestsTest, IsFalseForAFilterOrAShard) {
  EXPECT_TRUE(RanAllTests({"--gtest_shuffle"}, {"HOME=/root"}));
  EXPECT_FALSE(RanAllTests({"--gtest_filter=A.*"}, {}));
  EXPECT_FALSE(RanAllTests({}, {"GTEST_FILTER=A.*"}));
  EXPECT_FALSE(RanAllTests({}, {"GTEST_TOTAL_SHARDS=2"}));
}

}  // namespace
}  // namespace leakgate
