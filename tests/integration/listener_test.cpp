// The listener without a tracer, added twice, and in a main of the user's own.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

const std::string kNotTracing = "leakgate: not tracing; run the tests as `leakgate run -- BINARY`";

CommandResult RunBare(const std::vector<std::string>& environment) {
  return RunCommand({FixturePath("features_listener"), "--gtest_filter=Plain.Leaks"},
                    {.environment = environment});
}

TEST(ListenerWithoutTracerTest, LetsTheTestsRun) {
  const CommandResult result = RunBare({});

  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.standard_output, HasSubstr("[  PASSED  ] 1 test."));
}

TEST(ListenerWithoutTracerTest, SaysSoInOneLine) {
  EXPECT_EQ(RunBare({}).standard_error, kNotTracing + "\n");
}

TEST(ListenerWithoutTracerTest, FailsTheProgramWhereItIsRequired) {
  const CommandResult result = RunBare({"LEAKGATE_REQUIRED=1"});

  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.standard_error, kNotTracing + " (LEAKGATE_REQUIRED=1: failing)\n");
}

TEST(ListenerWithoutTracerTest, RunsNoTestWhereItIsRequired) {
  EXPECT_EQ(RunBare({"LEAKGATE_REQUIRED=1"}).standard_output, "");
}

TEST(ListenerWithoutTracerTest, IsNotRequiredByOtherValues) {
  EXPECT_EQ(RunBare({"LEAKGATE_REQUIRED=0"}).exit_code, 0);
}

TEST(ListenerTest, IsContentWithATracerWhereItIsRequired) {
  const GatedRun run = RunGated({FixturePath("features_listener"), "--gtest_filter=Plain.Passes"},
                                {}, {.environment = {"LEAKGATE_REQUIRED=1"}});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

TEST(ListenerTest, IsInconclusiveWhereItIsLinkedAndNotAdded) {
  const GatedRun run = RunGated({FixturePath("own_main"), "--gtest_filter=OwnMain.Passes"}, {},
                                {.environment = {"FORGETS_THE_LISTENER=1"}});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("own_main has leakgate's listener, but did not add it, so no tests were "
                        "told apart; call leakgate::AppendListener()"));
}

TEST(ListenerTest, IsNotMissedWhereNoTestRuns) {
  const GatedRun run = RunGated({FixturePath("own_main"), "--gtest_list_tests"}, {},
                                {.environment = {"FORGETS_THE_LISTENER=1"}});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

TEST(ListenerTest, ReportsOnceWhenItWasAddedTwice) {
  const GatedRun run = RunGated({FixturePath("own_main"), "--gtest_filter=OwnMain.Leaks"});
  const std::string& output = run.command.standard_output;
  const std::size_t first = output.find("leakgate: 100 B in 1 block outstanding");

  ASSERT_NE(first, std::string::npos) << output;
  EXPECT_EQ(output.find("leakgate: 100 B in 1 block outstanding", first + 1), std::string::npos);
}

TEST(ListenerTest, FailsTheTestUnderAMainOfTheUsersOwn) {
  const GatedRun run = RunGated({FixturePath("own_main")});

  EXPECT_EQ(OutcomeOf(run.Test("OwnMain.Leaks")),
            OverBudget({{100, 1, "malloc", "OwnMain_Leaks_Test::TestBody()",
                         PlaceOf("own_main.cpp", "own main")}}));
  EXPECT_EQ(OutcomeOf(run.Test("OwnMain.Passes")), Pass());
}

TEST(ListenerTest, FailsTheTestAtTheLineOfTheLeak) {
  const GatedRun run = RunGated({FixturePath("own_main"), "--gtest_filter=OwnMain.Leaks"});
  EXPECT_THAT(run.command.standard_output,
              HasSubstr(PlaceOf("own_main.cpp", "own main") + ": Failure"));
}

TEST(ListenerTest, IsNotNeededUnderGmocksMain) {
  const GatedRun run = RunGated({FixturePath("gmock_main"), "--gtest_filter=Kinds.New"});

  EXPECT_EQ(run.report["tracing"]["boundaries"], "stream");
  EXPECT_EQ(run.Test("Kinds.New")["verdict"], "over_budget");
}

}  // namespace
}  // namespace leakgate::test
