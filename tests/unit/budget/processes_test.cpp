// The budgets of child processes, and the warnings about those that no test has started.
#include <gmock/gmock.h>

#include "runner/budget/budget_set.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

BudgetFile FileOfComponent(const std::string& component, const std::string& members) {
  return GoodBudget(component + ".json",
                    "{\"component\": \"" + component + "\",\n" + members + "}");
}

std::string ComponentOf(const BudgetSet& set, const std::string& image, const std::string& test) {
  const Expected<AppliedBudget> budget = set.ForProcess(image, {test, ""});
  return budget ? budget->component : budget.error().message;
}

const BudgetSet kNetAndDisk({FileOfComponent("net",
                                             R"("tests": ["Net.*"], "processes": ["helper*"])"),
                             FileOfComponent("disk", R"("tests": ["Disk.*"], "processes": ["*"])")},
                            "all_tests");

TEST(ProcessBudgetTest, NamesProcessesByTheirWholeFileName) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["helper", "server_?"])")},
                      "all_tests");
  EXPECT_TRUE(set.NamesProcess("helper"));
  EXPECT_TRUE(set.NamesProcess("server_1"));
  EXPECT_FALSE(set.NamesProcess("my_helper"));
  EXPECT_FALSE(set.NamesProcess("server_12"));
}

TEST(ProcessBudgetTest, NamesNoneWhereNoFileOfTheBinaryDoes) {
  const BudgetSet set(
      {FileOfComponent("net", R"("binaries": ["net_test"], "processes": ["helper"])")},
      "disk_test");
  EXPECT_FALSE(set.NamesProcesses());
  EXPECT_FALSE(set.NamesProcess("helper"));
}

TEST(ProcessBudgetTest, ComesFromTheFileThatCoversTheTestThatStartedIt) {
  EXPECT_EQ(ComponentOf(kNetAndDisk, "helper", "Net.One"), "net");
  EXPECT_EQ(ComponentOf(kNetAndDisk, "helper", "Disk.One"), "disk");
}

TEST(ProcessBudgetTest, ComesFromTheLongestPatternWhereThatFileNamesItNot) {
  EXPECT_EQ(ComponentOf(kNetAndDisk, "server", "Net.One"), "disk");
  EXPECT_EQ(ComponentOf(kNetAndDisk, "helper", ""), "net");
}

TEST(ProcessBudgetTest, RefusesTwoFilesWhosePatternsAreAsLong) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["help*"])"),
                       FileOfComponent("disk", R"("processes": ["*lper"])")},
                      "all_tests");
  EXPECT_THAT(ComponentOf(set, "helper", ""),
              HasSubstr("net.json and disk.json: both name the process helper"));
}

TEST(ProcessBudgetTest, TakesItsOwnLimitsAndNotTheProgramsOrTheTests) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["helper"], "limits": {
      "test": {"lost": {"bytes": 1}}, "program": {"lost": {"bytes": 2}},
      "process": {"lost": {"bytes": 3}}})")},
                      "all_tests");
  EXPECT_EQ(set.ForProcess("helper", {})->lost.bytes->value, 3);
}

TEST(ProcessBudgetTest, TakesTheOverrideForTheTestThatStartedIt) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["helper"],
      "overrides": [{"tests": ["A.One"], "reason": "x",
                     "limits": {"process": {"outstanding": {"bytes": 7}}}}])")},
                      "all_tests");
  EXPECT_EQ(set.ForProcess("helper", {"A.One", ""})->outstanding.bytes->value, 7);
  EXPECT_FALSE(set.ForProcess("helper", {"A.Two", ""})->outstanding.bytes);
  EXPECT_FALSE(set.ForProcess("helper", {})->outstanding.bytes);
}

TEST(UnseenProcessesTest, TellsThePatternItsPlaceAndTheRemedy) {
  EXPECT_THAT(kNetAndDisk.UnseenProcesses({{"Net.One", ""}}, {"server"}),
              ElementsAre("net.json:2: no process \"helper*\" was started, so none was judged; "
                          "correct the name (that of the executable file, links resolved; of a "
                          "script, its interpreter's), or have the tests run that start it"));
}

TEST(UnseenProcessesTest, TellsNothingOfWhatWasSeen) {
  EXPECT_THAT(kNetAndDisk.UnseenProcesses({{"Net.One", ""}}, {"helper_2"}), IsEmpty());
}

TEST(UnseenProcessesTest, LeavesOutFilesOfWhoseTestsNoneRan) {
  EXPECT_THAT(kNetAndDisk.UnseenProcesses({{"Other.One", ""}}, {}), IsEmpty());
  EXPECT_THAT(kNetAndDisk.UnseenProcesses({}, {}), IsEmpty());
}

TEST(UnseenProcessesTest, AsksFilesForCodeAloneInEveryRun) {
  const BudgetSet set(
      {FileOfComponent("net", R"("code": {"paths": ["src/*"]}, "processes": ["helper"])")},
      "all_tests");
  EXPECT_THAT(set.UnseenProcesses({{"A.One", ""}}, {}), ElementsAre(HasSubstr("\"helper\"")));
}

TEST(UnseenProcessesTest, AsksOfAProgramWithoutTests) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["helper"])")}, "all_tests");
  EXPECT_THAT(set.UnseenProcesses({}, {}), ElementsAre(HasSubstr("\"helper\"")));
}

TEST(UnseenProcessesTest, SaysThatTheProgramItselfIsNotMeant) {
  const BudgetSet set({FileOfComponent("net", R"("processes": ["all_*"])")}, "all_tests");
  EXPECT_THAT(set.UnseenProcesses({{"A.One", ""}}, {}),
              ElementsAre(HasSubstr("the program under test has that name")));
}

}  // namespace
}  // namespace leakgate
