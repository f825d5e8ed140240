#include "runner/results/budgets/initial_budget.h"

#include <gmock/gmock.h>

#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "tests/unit/results/budgets/failing_windows.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::chrono::year_month_day kDayOfWriting = *ParseDate("2026-11-21");

BudgetFile BudgetOf(std::vector<WindowResult> windows) {
  RunResult result;
  result.binary = "/build/net_test";
  result.windows = std::move(windows);
  const std::string text = MakeInitialBudget("net", result, kDayOfWriting).text;
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

// Calls from the innermost frame outwards; the first is the user's.
Finding LostIn(std::vector<std::string> functions, Amount amount) {
  Finding finding = LostAt(functions.front(), amount);
  finding.stack.Edit().clear();
  for (const std::string& function : functions) finding.stack.Edit().push_back(In(function));
  return finding;
}

// Allowances are asked for what fails.
TEST(InitialBudgetTest, GivesAnEntryNothingForWhatPassesAnyway) {
  Finding one_time = LostIn({"net::Build()", "net::Put()"}, {500, 5});
  one_time.reach = Reach::kRetained;
  one_time.disposition = Disposition::kOneTime;
  const BudgetFile file = BudgetOf({Failing(
      {LostAt("net::Put()", {16, 1}), one_time, LostIn({"net::Grow()", "net::Put()"}, {64, 1})})});
  ASSERT_THAT(file.allowances, SizeIs(2));
  EXPECT_EQ(file.allowances[0].blocks->value, 1) << "net::Grow";
  EXPECT_EQ(file.allowances[1].blocks->value, 1) << "net::Put";
  EXPECT_EQ(file.allowances[1].bytes->value, 16);
}

TEST(InitialBudgetTest, RestrictsWhatOnlyMainTellsToItsTests) {
  WindowResult test = Failing({LostAt("main", {16, 1})});
  test.name = "Net.Jumps";
  WindowResult suite = Failing({LostAt("main", {32, 1})});
  suite.kind = WindowKind::kSuite;
  suite.name = "Net";
  const BudgetFile file = BudgetOf({suite, test});
  ASSERT_THAT(file.allowances, SizeIs(2));
  EXPECT_THAT(file.allowances[0].tests, ElementsAre("Net.*"));
  EXPECT_EQ(file.allowances[0].bytes->value, 32);
  EXPECT_THAT(file.allowances[1].tests, ElementsAre("Net.Jumps"));
  EXPECT_EQ(file.allowances[1].bytes->value, 16);
}

TEST(InitialBudgetTest, LimitsWhatMainItselfLoses) {
  WindowResult program = Failing({LostAt("main", {16, 1}), LostAt("main", {8, 2})});
  program.kind = WindowKind::kProgram;
  const BudgetFile file = BudgetOf({program});
  EXPECT_THAT(file.allowances, IsEmpty());
  EXPECT_EQ(file.limits.program.lost.bytes->value, 24);
  EXPECT_EQ(file.limits.program.lost.blocks->value, 3);
}

TEST(InitialBudgetTest, SaysWhatNoEntryAllows) {
  WindowResult freeing = Failing({});
  freeing.name = "Net.FreesTwice";
  freeing.free_errors.resize(1);
  WindowResult unknown = Failing({LostAt("", {16, 1})});
  unknown.name = "Net.Stripped";
  RunResult result;
  result.windows = {freeing, unknown};
  EXPECT_THAT(MakeInitialBudget("net", result, kDayOfWriting).still_failing,
              ElementsAre(HasSubstr("Net.Stripped still fails: 16 B in 1 block"),
                          HasSubstr("Net.FreesTwice still fails: no entry allows")));
}

}  // namespace
}  // namespace leakgate
