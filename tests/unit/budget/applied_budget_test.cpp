// What a budget file permits a window: every quantity, overrides, free_by and the like, allowances,
// and what of these has expired.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/budget/budget_set.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::year_month_day kToday{std::chrono::year(2026), std::chrono::month(3),
                                             std::chrono::day(10)};

BudgetFile FileWith(const std::string& members, const std::string& component = "net") {
  return GoodBudget("net.leakgate.json",
                    "{\"component\": \"" + component + "\",\n" + members + "}");
}

BudgetSet Set(const std::string& members) { return {{FileWith(members)}, "net_test", kToday}; }

AppliedBudget BudgetOfTest(const BudgetSet& set, const std::string& name = "A.One") {
  return ValueOf(set.ForTest({name, ""}));
}

TEST(QuantitiesTest, AllReachTheBudgetOfATest) {
  const AppliedBudget budget = BudgetOfTest(Set(R"("limits": {"test": {
    "lost": {"blocks": 1}, "retained": {"bytes": 2}, "growth": {"bytes": 3},
    "allocated": {"bytes": 4}, "temporary": {"blocks": 9}, "peak": {"bytes": 5}, "mapped": {"bytes": 6},
    "file_descriptors": 7, "threads": 8}})"));
  EXPECT_EQ(budget.lost.blocks->value, 1);
  EXPECT_EQ(budget.retained.bytes->value, 2);
  EXPECT_EQ(budget.growth.bytes->value, 3);
  EXPECT_EQ(budget.allocated.bytes->value, 4);
  EXPECT_EQ(budget.temporary.blocks->value, 9);
  EXPECT_EQ(budget.peak_bytes->value, 5);
  EXPECT_EQ(budget.mapped.bytes->value, 6);
  EXPECT_EQ(budget.file_descriptors->value, 7);
  EXPECT_EQ(budget.threads->value, 8);
  EXPECT_EQ(budget.threads->source.line, 5);
}

TEST(QuantitiesTest, AreOverriddenOneByOne) {
  const AppliedBudget budget = BudgetOfTest(Set(R"("limits": {"test": {"threads": 1, "peak":
    {"bytes": 5}}}, "overrides": [{"tests": ["A.*"], "limits": {"test": {"threads": 2}},
    "reason": "a pool"}])"));
  EXPECT_EQ(budget.threads->value, 2);
  EXPECT_EQ(budget.threads->source.reason, "a pool");
  EXPECT_EQ(budget.peak_bytes->value, 5);
}

// A file with 10 bytes and 1 block outstanding, 20 bytes of growth, and `overrides`.
BudgetSet SetWithOverrides(const std::string& overrides) {
  return Set(
      R"("limits": {"test": {"outstanding": {"bytes": 10, "blocks": 1}, "growth": {"bytes": 20}}},
    "overrides": [)" +
      overrides + "]");
}

std::string OutstandingBytes(int bytes, const std::string& tests) {
  return R"({"tests": [")" + tests + R"("], "limits": {"test": {"outstanding": {"bytes": )" +
         std::to_string(bytes) + R"(}}}, "reason": "because of )" + tests + "\"}";
}

TEST(OverrideTest, AppliesToTheTestsThatItMatches) {
  const BudgetSet set = SetWithOverrides(OutstandingBytes(99, "HttpTest.KeepAlive"));
  EXPECT_EQ(BudgetOfTest(set, "HttpTest.KeepAlive").outstanding.bytes->value, 99);
  EXPECT_EQ(BudgetOfTest(set, "HttpTest.Get").outstanding.bytes->value, 10);
}

TEST(OverrideTest, ReplacesTheWholeOutstandingObject) {
  const BudgetSet set = SetWithOverrides(OutstandingBytes(99, "*"));
  EXPECT_FALSE(BudgetOfTest(set, "A.One").outstanding.blocks);
}

TEST(OverrideTest, LeavesTheMetricThatItDoesNotSet) {
  const AppliedBudget budget = BudgetOfTest(SetWithOverrides(OutstandingBytes(99, "*")), "A.One");
  ASSERT_TRUE(budget.growth.bytes);
  EXPECT_EQ(budget.growth.bytes->value, 20);
  EXPECT_EQ(budget.growth.bytes->source.reason, "");
}

TEST(OverrideTest, GivesItsReasonAndLineToTheLimit) {
  const AppliedBudget budget =
      BudgetOfTest(SetWithOverrides("\n" + OutstandingBytes(99, "A.*")), "A.One");
  EXPECT_EQ(budget.outstanding.bytes->source.file, "net.leakgate.json");
  EXPECT_EQ(budget.outstanding.bytes->source.line, 4);
  EXPECT_EQ(budget.outstanding.bytes->source.reason, "because of A.*");
}

TEST(OverrideTest, YieldsToALaterOneThatMatches) {
  const BudgetSet set =
      SetWithOverrides(OutstandingBytes(1, "A.*") + "," + OutstandingBytes(2, "*") + "," +
                       OutstandingBytes(3, "B.*"));
  EXPECT_EQ(BudgetOfTest(set, "A.One").outstanding.bytes->value, 2);
  EXPECT_EQ(BudgetOfTest(set, "B.One").outstanding.bytes->value, 3);
}

TEST(OverrideTest, DoesNotYieldToALaterOneThatSetsAnotherMetric) {
  const BudgetSet set = SetWithOverrides(OutstandingBytes(1, "*") + R"(,
      {"tests": ["*"], "limits": {"test": {"growth": {"blocks": 5}}}, "reason": "x"})");
  const AppliedBudget budget = BudgetOfTest(set, "A.One");
  EXPECT_EQ(budget.outstanding.bytes->value, 1);
  EXPECT_EQ(budget.growth.blocks->value, 5);
  EXPECT_FALSE(budget.growth.bytes);
}

TEST(OverrideTest, ForSuitesLeavesTestsAlone) {
  const BudgetSet set = SetWithOverrides(
      R"({"tests": ["*"], "limits": {"suite": {"outstanding": {"bytes": 99}}}, "reason": "x"})");
  EXPECT_EQ(BudgetOfTest(set, "A.One").outstanding.bytes->value, 10);
}

TEST(JudgingTest, ComesFromTheFile) {
  const AppliedBudget budget =
      BudgetOfTest(Set(R"("free_by": "suite", "confirm": "inline", "threads": "test")"));
  EXPECT_EQ(budget.free_by, FreeBy::kSuite);
  EXPECT_EQ(budget.confirm, Confirm::kInline);
  EXPECT_EQ(budget.thread_scope, ThreadScope::kTest);
}

TEST(JudgingTest, IsOfTheTestAndTheWholeProcessIfTheFileSaysNothing) {
  const AppliedBudget budget = BudgetOfTest(Set("\"owner\": \"x\""));
  EXPECT_EQ(budget.free_by, FreeBy::kTest);
  EXPECT_EQ(budget.confirm, std::nullopt);
  EXPECT_EQ(budget.thread_scope, ThreadScope::kProcess);
}

TEST(JudgingTest, TakesFreeByFromTheLastOverrideThatSetsIt) {
  const BudgetSet set = Set(R"("free_by": "suite", "overrides": [
    {"tests": ["A.*"], "free_by": "program", "reason": "x"},
    {"tests": ["A.*"], "limits": {"test": {"threads": 2}}, "reason": "x"}])");
  EXPECT_EQ(BudgetOfTest(set).free_by, FreeBy::kProgram);
  EXPECT_EQ(BudgetOfTest(set, "B.One").free_by, FreeBy::kSuite);
}

constexpr const char* kAllowances = R"("allowances": [
  {"stack": ["net::Grow", "net::*"], "bytes": 64, "blocks": 2, "reason": "one pool",
   "owner": "team-b", "issue": "B-2", "expires": "2026-03-10"},
  {"stack": ["b"], "tests": ["B.*"], "reason": "b"},
  {"stack": ["c"], "reason": "c", "expires": "2026-03-09"}])";

TEST(AllowanceTest, ReachesTheBudgetWithAllThatIsKnownOfIt) {
  const AppliedBudget budget = BudgetOfTest(Set(kAllowances));
  ASSERT_THAT(budget.allowances, SizeIs(1));
  const AppliedAllowance& allowance = budget.allowances[0];
  EXPECT_THAT(allowance.stack, ElementsAre("net::Grow", "net::*"));
  EXPECT_EQ(allowance.bytes, 64);
  EXPECT_EQ(allowance.blocks, 2);
  EXPECT_EQ(allowance.source, (LimitSource{"net.leakgate.json", 3, "one pool"}));
  EXPECT_EQ(allowance.owner, "team-b");
  EXPECT_EQ(allowance.issue, "B-2");
  EXPECT_EQ(allowance.expires, kToday);
}

TEST(AllowanceTest, AppliesToTheTestsThatItNames) {
  EXPECT_THAT(BudgetOfTest(Set(kAllowances), "B.One").allowances, SizeIs(2));
}

TEST(AllowanceTest, AppliesToASuiteIfItNamesAllOfItsTests) {
  const BudgetSet set = Set(kAllowances);
  EXPECT_THAT(set.ForSuite({{"B.One", ""}, {"B.Two", ""}}).value().allowances, SizeIs(2));
  EXPECT_THAT(set.ForSuite({{"B.One", ""}, {"A.Two", ""}}).value().allowances, SizeIs(1));
}

TEST(AllowanceTest, OfCertainTestsDoesNotApplyToTheProgram) {
  EXPECT_THAT(Set(kAllowances).ForProgram().value().allowances, SizeIs(1));
}

TEST(ExpiryTest, HoldsOnTheLastDay) {
  EXPECT_THAT(Set(kAllowances).ListExpired(),
              ElementsAre("net.leakgate.json:6: the allowance for c expired on 2026-03-09; fix "
                          "the leak, or set a later date"));
}

TEST(ExpiryTest, NamesEveryEntryThatHasExpired) {
  const BudgetSet set = Set(R"("overrides": [{"tests": ["A.*", "B.*"], "reason": "x",
    "free_by": "suite", "expires": "2026-01-31"}],
    "allowances": [{"stack": ["a", "b"], "reason": "x", "expires": "2025-12-31"}])");
  EXPECT_THAT(set.ListExpired(),
              ElementsAre("net.leakgate.json:2: the override for A.*, B.* expired on 2026-01-31; "
                          "fix the leak, or set a later date",
                          "net.leakgate.json:4: the allowance for a < b expired on 2025-12-31; fix "
                          "the leak, or set a later date"));
}

TEST(ExpiryTest, LeavesOutFilesForOtherBinaries) {
  const BudgetSet set({FileWith(R"("binaries": ["disk_*"], "allowances": [{"stack": ["a"],
                             "reason": "x", "expires": "2025-12-31"}])")},
                      "net_test", kToday);
  EXPECT_THAT(set.ListExpired(), IsEmpty());
}

TEST(ExpiryTest, EndsAnOverride) {
  const BudgetSet set = Set(R"("limits": {"test": {"outstanding": {"bytes": 1}}}, "overrides": [
    {"tests": ["*"], "limits": {"test": {"outstanding": {"bytes": 2}}}, "reason": "x"},
    {"tests": ["*"], "limits": {"test": {"outstanding": {"bytes": 3}}}, "reason": "x",
     "free_by": "suite", "expires": "2026-03-09"}])");
  EXPECT_EQ(BudgetOfTest(set).outstanding.bytes->value, 2);
  EXPECT_EQ(BudgetOfTest(set).free_by, FreeBy::kTest);
}

TEST(CodeBudgetTest, CoversNoTestByName) {
  const BudgetSet set = Set(R"("code": {"paths": ["net/*"]}, "limits": {"program": {"lost":
                               {"blocks": 0}}})");
  EXPECT_EQ(BudgetOfTest(set), AppliedBudget{});
  EXPECT_EQ(set.ForProgram().value(), AppliedBudget{});
}

TEST(CodeBudgetTest, CoversTheTestsThatItNamesToo) {
  EXPECT_EQ(BudgetOfTest(Set(R"("code": {"paths": ["net/*"]}, "tests": ["A.*"])")).component,
            "net");
}

TEST(CodeBudgetTest, OfSeveralFilesIsNoConflict) {
  const BudgetSet set({FileWith(R"("code": {"paths": ["net/*"]})"),
                       FileWith(R"("code": {"paths": ["disk/*"]})", "disk"),
                       FileWith(R"("limits": {"test": {"lost": {"blocks": 0}}})", "unowned"),
                       FileWith(R"("tests": ["*"])", "tests")},
                      "net_test", kToday);
  EXPECT_EQ(BudgetOfTest(set).component, "tests");
  std::vector<std::string> owners;
  for (const BudgetFile* file : set.CodeOwners()) owners.push_back(file->component);
  EXPECT_THAT(owners, ElementsAre("net", "disk", "unowned"));
}

TEST(CodeBudgetTest, HasLimitsAndOverridesLikeAnyOther) {
  const BudgetSet set = Set(R"("code": {"paths": ["net/*"]}, "limits": {"test": {"outstanding":
    {"bytes": 1}}}, "overrides": [{"tests": ["B.*"], "reason": "x", "limits": {"test":
    {"outstanding": {"bytes": 2}}}}])");
  const BudgetFile& file = *set.CodeOwners().at(0);
  EXPECT_EQ(set.ForCode(file, WindowKind::kTest, {"A.One"}).outstanding.bytes->value, 1);
  EXPECT_EQ(set.ForCode(file, WindowKind::kTest, {"B.One"}).outstanding.bytes->value, 2);
}

}  // namespace
}  // namespace leakgate
