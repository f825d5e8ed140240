// --timeout ends the program and all that it started, and keeps what was found.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

TEST(LaunchTimeoutTest, EndsAHangingTestAndNamesIt) {
  const GatedRun run = RunGated(Launch("suite", {"--gtest_filter=*.Hangs"}), {"--timeout", "0.3"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("the timeout of 0.3 s was reached while this test ran: Launch.Hangs"));
  EXPECT_EQ(run.Test("Launch.Hangs")["verdict"], "inconclusive");
}

TEST(LaunchTimeoutTest, KeepsTheFindingsSoFar) {
  const GatedRun run =
      RunGated(Launch("suite", {"--gtest_filter=*.Leaks:*.Hangs"}), {"--timeout", "1"});
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
  EXPECT_EQ(run.Test("Launch.Leaks")["verdict"], "over_budget");
}

TEST(LaunchTimeoutTest, KillsChildrenAndDaemonsToo) {
  RunningCommand command(
      Gated(Launch("suite", {"--gtest_filter=*.HangsWithDescendants"}), {"--timeout", "1"}));
  const std::string first = command.RestOfOutput();
  EXPECT_EQ(command.WaitForShellCode(), 3);
  for (const std::string word : {"child ", "daemon "}) {
    const std::size_t at = first.find(word);
    ASSERT_NE(at, std::string::npos) << first;
    EXPECT_TRUE(GoesSoon(std::stoi(first.substr(at + word.size())))) << word;
  }
}

TEST(LaunchTimeoutTest, IsInSecondsWithAFraction) {
  const auto begin = std::chrono::steady_clock::now();
  RunCommand(Gated({"sleep", "20"}, {"--timeout", "0.25"}));
  const auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(taken, std::chrono::milliseconds(250));
  EXPECT_LT(taken, std::chrono::seconds(5));
}

TEST(LaunchTimeoutTest, DoesNotConcernAProgramThatEndsInTime) {
  EXPECT_EQ(RunCommand(Gated({"true"}, {"--timeout", "60"})).exit_code, 0);
}

}  // namespace
}  // namespace leakgate::test
