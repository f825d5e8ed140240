// leakgate's exit code: the program's own unless that is 0.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

class LaunchExitCodeTest : public testing::TestWithParam<int> {};

TEST_P(LaunchExitCodeTest, PassesTheProgramsOwnOn) {
  const Command program = Launch("ending", {"code", std::to_string(GetParam())});
  EXPECT_EQ(RunCommand(Gated(program)).exit_code, GetParam());
}

INSTANTIATE_TEST_SUITE_P(, LaunchExitCodeTest, testing::Values(0, 1, 2, 3, 42, 127, 128, 255));

class LaunchSignalCodeTest : public testing::TestWithParam<int> {};

TEST_P(LaunchSignalCodeTest, Is128AndTheSignal) {
  const GatedRun run = RunGated(Launch("ending", {"signal", std::to_string(GetParam())}));
  EXPECT_EQ(run.command.exit_code, 128 + GetParam());
  EXPECT_EQ(run.report["program"]["signal"], GetParam());
}

INSTANTIATE_TEST_SUITE_P(, LaunchSignalCodeTest,
                         testing::Values(SIGHUP, SIGINT, SIGKILL, SIGSEGV, SIGTERM, SIGUSR1));

TEST(LaunchExitCodesTest, OfAnAbortIs134) {
  EXPECT_EQ(RunCommand(Gated(Launch("ending", {"abort"}))).exit_code, 134);
}

TEST(LaunchExitCodesTest, OfAFaultIs139) {
  EXPECT_EQ(RunCommand(Gated(Launch("ending", {"fault"}))).exit_code, 139);
}

TEST(LaunchExitCodesTest, OfATestOverBudgetIs1) {
  EXPECT_EQ(RunCommand(Gated(Launch("suite", {"--gtest_filter=*.Leaks"}))).exit_code, 1);
}

TEST(LaunchExitCodesTest, OfPassingTestsIs0) {
  EXPECT_EQ(RunCommand(Gated(Launch("suite", {"--gtest_filter=*.Passes"}))).exit_code, 0);
}

TEST(LaunchExitCodesTest, OfAFailedTestIsGoogleTestsOwn) {
  EXPECT_EQ(RunCommand(Gated(Launch("suite", {"--gtest_filter=*.Fails"}))).exit_code, 1);
}

TEST(LaunchExitCodesTest, OfACrashIsTheSignalsThoughAnotherTestLeaks) {
  const GatedRun run = RunGated(Launch("suite", {"--gtest_filter=*.Leaks:*.Crashes"}));
  EXPECT_EQ(run.command.exit_code, 139);
  EXPECT_EQ(run.Test("Launch.Leaks")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Launch.Crashes")["test_result"], "crashed");
}

}  // namespace
}  // namespace leakgate::test
