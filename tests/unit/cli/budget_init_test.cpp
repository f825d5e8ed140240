#include <gmock/gmock.h>

#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/commands/budget.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::chrono::year_month_day kToday = *ParseDate("2026-11-21");

Finding LostAt(const std::string& function, Amount amount) {
  Finding finding;
  finding.amount = amount;
  finding.stack = {In(function)};
  finding.user_frame = 0;
  finding.reach = Reach::kLost;
  return finding;
}

WindowResult Failing(std::vector<Finding> findings) {
  WindowResult window;
  window.verdict = Verdict::kOverBudget;
  window.findings = std::move(findings);
  return window;
}

BudgetFile BudgetOf(std::vector<WindowResult> windows) {
  RunResult result;
  result.binary = "/build/net_test";
  result.windows = std::move(windows);
  const std::string text = InitialBudget("net", result, kToday);
  const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", text);
  if (!file) ADD_FAILURE() << file.error().message << "\n" << text;
  return file.value_or(BudgetFile{});
}

TEST(InitialBudgetTest, IsForTheComponentAndTheBinary) {
  const BudgetFile file = BudgetOf({});
  EXPECT_EQ(file.component, "net");
  EXPECT_THAT(file.binaries, ElementsAre("net_test"));
  EXPECT_THAT(file.allowances, IsEmpty());
}

TEST(InitialBudgetTest, AllowsEachCallSiteTheMostThatItLeftInAWindow) {
  const BudgetFile file = BudgetOf({
      Failing({LostAt("net::Grow()", {64, 1}), LostAt("net::Grow()", {8, 2}),
               LostAt("net::Put()", {16, 1})}),
      Failing({LostAt("net::Grow()", {100, 1})}),
  });
  ASSERT_THAT(file.allowances, SizeIs(2));
  EXPECT_THAT(file.allowances[0].stack, ElementsAre("net::Grow"));
  EXPECT_EQ(file.allowances[0].bytes->value, 100);
  EXPECT_EQ(file.allowances[0].blocks->value, 3);
  EXPECT_EQ(file.allowances[0].reason,
            "found by leakgate budget init on 2026-11-21; fix it, or say why it stays");
  EXPECT_THAT(file.allowances[1].stack, ElementsAre("net::Put"));
}

TEST(InitialBudgetTest, LeavesOutWhatMadeNothingFail) {
  WindowResult passing = Failing({LostAt("a", {1, 1})});
  passing.verdict = Verdict::kPass;
  Finding framework = LostAt("b", {1, 1});
  framework.framework_rule = "stdio";
  framework.disposition = Disposition::kFramework;
  Finding one_time = LostAt("c", {1, 1});
  one_time.reach = Reach::kRetained;
  one_time.disposition = Disposition::kOneTime;
  EXPECT_THAT(BudgetOf({passing, Failing({framework, one_time})}).allowances, IsEmpty());
}

TEST(InitialBudgetTest, AllowsWhatGrowsWhenRepeated) {
  Finding steady = LostAt("net::Cache()", {8, 1});
  steady.reach = Reach::kRetained;
  steady.disposition = Disposition::kSteady;
  EXPECT_THAT(BudgetOf({Failing({steady})}).allowances, SizeIs(1));
}

}  // namespace
}  // namespace leakgate
