#include "runner/budget/budget_problems.h"

#include <gmock/gmock.h>

#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

BudgetFile NetBudget(const std::string& path, const std::string& members) {
  return GoodBudget(path, "{\"component\": \"net\",\n" + members + "}");
}

BudgetProblems DatesOn(const std::string& today) {
  return CheckDates(NetBudget("a.json", R"("allowances": [{"stack": ["a"], "reason": "x",
                          "expires": "2026-03-31"}])"),
                    *ParseDate(today));
}

TEST(CheckDatesTest, WarnsThirtyDaysBeforeAnEntryExpires) {
  EXPECT_THAT(DatesOn("2026-02-28").warnings, IsEmpty());
  EXPECT_THAT(DatesOn("2026-03-01").warnings,
              ElementsAre("a.json:2: the allowance for a expires on 2026-03-31; fix the leak "
                          "before, or set a later date"));
  EXPECT_THAT(DatesOn("2026-03-31").warnings, SizeIs(1));
  EXPECT_THAT(DatesOn("2026-03-31").errors, IsEmpty());
}

TEST(CheckDatesTest, TakesWhatHasExpiredForAnError) {
  EXPECT_THAT(DatesOn("2026-04-01").errors, SizeIs(1));
  EXPECT_THAT(DatesOn("2026-04-01").warnings, IsEmpty());
}

const std::vector<TestId> kTests = {{"A.One", ""}, {"A.Two", ""}};

TEST(CheckAgainstTestsTest, TellsAConflictOnce) {
  const BudgetSet set(
      {NetBudget("a.json", "\"owner\": \"x\""), NetBudget("b.json", "\"owner\": \"y\"")},
      "net_test");
  const BudgetProblems problems = CheckAgainstTests(set, kTests);
  EXPECT_THAT(problems.errors, ElementsAre(testing::HasSubstr("both cover A.One")));
}

TEST(CheckAgainstTestsTest, WarnsOfAProcessThatIsTheBinaryItself) {
  const BudgetSet set({NetBudget("a.json", R"("processes": ["*", "net_test"])")}, "net_test");
  EXPECT_THAT(CheckAgainstTests(set, kTests).warnings,
              ElementsAre("a.json:2: processes: \"net_test\" is the binary itself, whose death "
                          "tests are not meant; name what its tests start"));
}

TEST(CheckAgainstTestsTest, WarnsOfPatternsThatMatchNoTest) {
  const BudgetSet set({NetBudget("a.json", R"("tests": ["A.*", "B.*"],
    "overrides": [{"tests": ["C.*"], "free_by": "suite", "reason": "x"}],
    "allowances": [{"tests": ["D.*"], "stack": ["a"], "reason": "x"}])")},
                      "net_test");
  const BudgetProblems problems = CheckAgainstTests(set, kTests);
  EXPECT_THAT(problems.errors, IsEmpty());
  EXPECT_THAT(problems.warnings,
              ElementsAre("a.json: tests: \"B.*\" matches no test of the binary; correct it, or "
                          "remove it",
                          "a.json:3: tests: \"C.*\" matches no test of the binary; correct it, or "
                          "remove it",
                          "a.json:4: tests: \"D.*\" matches no test of the binary; correct it, or "
                          "remove it"));
}

TEST(DescribeBudgetTest, CountsItsExceptions) {
  EXPECT_EQ(
      DescribeBudget(NetBudget("a.json", R"("allowances": [{"stack": ["a"], "reason": "x"}])")),
      "ok: component net, 0 overrides, 1 allowance");
}

}  // namespace
}  // namespace leakgate
