#include "runner/report/remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/budget/budget_file.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingProgram;
using sample::FailingTest;
using sample::FailingUncoveredTest;
using sample::Over;
using testing::HasSubstr;
using testing::StartsWith;

WindowResult FailingSuite() {
  WindowResult window = FailingTest("HttpTest");
  window.kind = WindowKind::kSuite;
  return window;
}

BudgetFile Parse(const std::string& text) {
  const Expected<BudgetFile> budget = ParseBudgetFile("net.json", text);
  EXPECT_TRUE(budget.has_value()) << text << '\n' << budget.error().message;
  return budget.value_or(BudgetFile{});
}

TEST(RemedyTest, IsAnOverrideOfTheTestWithTheMeasuredNumbers) {
  EXPECT_EQ(RemedyJson(FailingTest()),
            R"({ "tests": ["HttpTest.KeepAlive"], "limits": { "test": { "outstanding": )"
            R"({ "bytes": 128, "blocks": 2 } } }, "reason": "..." })");
}

TEST(RemedyTest, IsAnOverrideThatABudgetFileTakes) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(FailingTest()) + "]}");

  EXPECT_EQ(budget.overrides.at(0).limits.test.outstanding.bytes->value, 128);
  EXPECT_EQ(budget.overrides.at(0).limits.test.outstanding.blocks->value, 2);
}

TEST(RemedyTest, OfASuiteIsAnOverrideOfAllItsTests) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(FailingSuite()) + "]}");

  EXPECT_EQ(budget.overrides.at(0).tests.at(0), "HttpTest.*");
  EXPECT_EQ(budget.overrides.at(0).limits.suite.outstanding.bytes->value, 128);
}

TEST(RemedyTest, OfTheProgramIsTheLimitsOfTheFile) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "limits": )" + RemedyJson(FailingProgram()) + "}");

  EXPECT_EQ(budget.limits.program.outstanding.bytes->value, 128);
}

TEST(RemedyTest, IsAWholeFileWhereNoneCoversTheTest) {
  const BudgetFile budget = Parse(RemedyJson(FailingUncoveredTest()));

  EXPECT_EQ(budget.overrides.at(0).tests.at(0), "HttpTest.KeepAlive");
}

TEST(RemedyTest, RaisesGrowthOnlyWhereGrowthIsOver) {
  WindowResult window = FailingTest();
  window.growth = {64, 1};
  window.violations = {Over("growth_bytes", 64, 0, {"net.json", 3, ""})};

  EXPECT_THAT(RemedyJson(window),
              HasSubstr(R"("limits": { "test": { "growth": { "bytes": 64, "blocks": 1 } } })"));
}

TEST(RemedyTest, RaisesBothWhereBothAreOver) {
  WindowResult window = FailingTest();
  window.violations.push_back(Over("growth_blocks", 2, 1, {"net.json", 3, ""}));

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("blocks": 2 }, "growth": { "bytes": 128)"));
}

TEST(RemedyTest, SetsNoNegativeLimit) {
  WindowResult window = FailingTest();
  window.growth = {64, -1};
  window.violations = {Over("growth_bytes", 64, 0, {"net.json", 3, ""})};

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("growth": { "bytes": 64 })"));
}

TEST(RemedyTest, QuotesATestsNameForJson) {
  const WindowResult window = FailingTest("Suite.\"quoted\" \xff");

  EXPECT_THAT(RemedyJson(window), HasSubstr("[\"Suite.\\\"quoted\\\" \uFFFD\"]"));
}

TEST(RemedyTest, SaysIntoWhichFileItGoes) {
  EXPECT_THAT(RemedyText(FailingTest()),
              StartsWith("fix it, or allow it in \"overrides\" of budgets/net.leakgate.json: {"));
  EXPECT_THAT(RemedyText(FailingProgram()),
              StartsWith("fix it, or allow it in \"limits\" of budgets/net.leakgate.json: {"));
}

TEST(RemedyTest, NamesANewFileWhereNoneCoversTheTest) {
  EXPECT_THAT(RemedyText(FailingUncoveredTest()),
              StartsWith("fix it, or allow it in a new NAME.leakgate.json: {"));
}

TEST(RemedyTest, FindsTheFileByAnotherOfItsLimits) {
  WindowResult window = FailingUncoveredTest();
  window.budget = std::make_shared<const AppliedBudget>(sample::BudgetOf("net"));
  sample::ChangeBudget(window, [](AppliedBudget& budget) {
    budget.growth.blocks = AppliedLimit{10, {"net.json", 3, ""}};
  });

  EXPECT_THAT(RemedyText(window), HasSubstr("\"overrides\" of net.json: {"));
}

TEST(RemedyTest, NamesTheComponentWhereItsFileSetsNoLimit) {
  WindowResult window = FailingUncoveredTest();
  window.budget = std::make_shared<const AppliedBudget>(sample::BudgetOf("net"));

  EXPECT_THAT(RemedyText(window), HasSubstr("\"overrides\" of net's budget file: {"));
}

}  // namespace
}  // namespace leakgate
