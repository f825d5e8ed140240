// How the program ends decides what can be said of it: an end that the agent
// did not see is never a pass.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

class LaunchSeenEndTest : public testing::TestWithParam<const char*> {};

TEST_P(LaunchSeenEndTest, Passes) {
  const GatedRun run = RunGated(Launch("ending", {GetParam()}));
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_EQ(run.report["verdict"], "pass");
}

INSTANTIATE_TEST_SUITE_P(, LaunchSeenEndTest,
                         testing::Values("_exit", "_Exit", "quick_exit", "exit_in_thread",
                                         "pthread_exit", "return"));

void ExpectInconclusive(const GatedRun& run, const std::string& reason) {
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_EQ(run.report["verdict"], "inconclusive");
  EXPECT_THAT(run.command.standard_error, HasSubstr("inconclusive: " + reason));
}

TEST(LaunchFailClosedTest, AnEndByABareSystemCallIsInconclusive) {
  ExpectInconclusive(RunGated(Launch("ending", {"exit_group"})),
                     "the program ended without its exit handlers");
}

TEST(LaunchFailClosedTest, AStaticProgramAtTheEndOfAnExecIsInconclusive) {
  ExpectInconclusive(RunGated(Launch("ending", {"exec", FixturePath("launch_static")})),
                     "the program ended without its exit handlers, or executed another");
}

TEST(LaunchFailClosedTest, AClearedEnvironmentIsInconclusive) {
  ExpectInconclusive(RunGated({"env", "-i", FixturePath("launch_dynamic")}),
                     "the program ended without its exit handlers, or executed another");
}

TEST(LaunchFailClosedTest, AnExecutedProgramWithItsOwnMallocIsInconclusive) {
  const GatedRun run = RunGated({"sh", "-c", "exec " + FixturePath("launch_own_malloc")});
  ExpectInconclusive(run, "nothing was traced: ");
  EXPECT_THAT(run.command.standard_error, HasSubstr("the program's malloc is not the "));
}

TEST(LaunchFailClosedTest, AnEndInTheMiddleOfATestIsInconclusive) {
  const GatedRun run = RunGated(Launch("suite", {"--gtest_filter=*.Passes:*.EndsTheProgram"}));
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_EQ(run.Test("Launch.EndsTheProgram")["verdict"], "inconclusive");
  EXPECT_EQ(run.Test("Launch.Passes")["verdict"], "pass");
}

TEST(LaunchFailClosedTest, FindingsBeforeASuddenEndAreKept) {
  const GatedRun run = RunGated(Launch("suite", {"--gtest_filter=*.Leaks:*.EndsTheProgram"}));
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
}

TEST(LaunchFailClosedTest, ABareStreamOfTheUsersOwnIsRefused) {
  const CommandResult result =
      RunCommand(Gated(Launch("suite")), {.environment = {"GTEST_STREAM_RESULT_TO=localhost:1"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("how leakgate learns where tests begin"));
}

}  // namespace
}  // namespace leakgate::test
