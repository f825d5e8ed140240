// How a program ends, and what leakgate makes of it: its exit code, a reason where the end was not
// seen, and nothing left behind.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

// leakgate's exit code: the program's own unless that is 0.

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

// How the program ends decides what can be said of it: an end that the agent
// did not see is never a pass.

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

TEST(LaunchFailClosedTest, AnExecutedProgramWhoseMallocCannotBeMovedIsInconclusive) {
  const GatedRun run = RunGated({"sh", "-c", "exec " + FixturePath("launch_unmovable_malloc")});
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

// However either side ends, nothing of the other is left behind.

// The abstract sockets of all runners, as the kernel lists them.
int OpenControlSockets() {
  const std::string sockets = ReadFile("/proc/net/unix");
  int count = 0;
  for (std::size_t at = sockets.find("@leakgate-"); at != std::string::npos;
       at = sockets.find("@leakgate-", at + 1)) {
    ++count;
  }
  return count;
}

// The processes of a group, zombies apart.
int ProcessesOfGroup(pid_t group) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && ::getpgid(pid) == group && !IsGone(pid)) ++count;
  }
  return count;
}

TEST(LaunchLeftBehindTest, TheProgramDiesWithAKilledRunner) {
  RunningCommand command(Gated(Launch("suite", {"--gtest_filter=*.Hangs"})));
  const pid_t program = std::stoi(command.WaitFor("hanging"));
  ::kill(command.pid(), SIGKILL);
  EXPECT_TRUE(GoesSoon(program));
}

TEST(LaunchLeftBehindTest, AKilledRunnerLeavesNoProcess) {
  RunningCommand command(Gated(Launch("signal_count")));
  command.WaitFor("ready");
  ::kill(command.pid(), SIGKILL);
  EXPECT_EQ(command.WaitForShellCode(), 128 + SIGKILL);
  EXPECT_TRUE(ComesTrue([&] { return ProcessesOfGroup(command.pid()) == 0; }));
}

TEST(LaunchLeftBehindTest, ARunThatEndedLeavesNoProcess) {
  RunningCommand command(Gated({"true"}));
  command.WaitForShellCode();
  EXPECT_EQ(ProcessesOfGroup(command.pid()), 0);
}

TEST(LaunchLeftBehindTest, AKilledProgramIsReportedWithTheWindowsSoFar) {
  const TemporaryDirectory directory;
  RunningCommand command(Gated(Launch("suite", {"--gtest_filter=*.Leaks:*.Hangs"}),
                               {"--report", "json=" + directory.File("report")}));
  ::kill(std::stoi(command.WaitFor("hanging")), SIGKILL);
  EXPECT_EQ(command.WaitForShellCode(), 137);
  GatedRun run;
  run.report = nlohmann::json::parse(ReadFile(directory.File("report")));
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
  EXPECT_EQ(run.Test("Launch.Hangs")["test_result"], "crashed");
  EXPECT_EQ(run.Test("Launch.Hangs")["verdict"], "inconclusive");
}

TEST(LaunchLeftBehindTest, NothingIsLeftInTheWorkingDirectory) {
  const TemporaryDirectory directory;
  RunCommand(Gated(Launch("suite", {"--gtest_filter=*.Leaks"})), {.directory = directory.path()});
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(LaunchLeftBehindTest, NoSocketIsLeftOfAKilledRunner) {
  const int before = OpenControlSockets();
  {
    RunningCommand command(Gated(Launch("signal_count")));
    command.WaitFor("ready");
    ASSERT_GT(OpenControlSockets(), 0);
    ::kill(command.pid(), SIGKILL);
    command.WaitForShellCode();
  }
  EXPECT_TRUE(ComesTrue([&] { return OpenControlSockets() <= before; }));
}

// The runner is stopped, so that it cannot answer, and then killed.
TEST(LaunchLeftBehindTest, AProgramThatWaitsForAVerdictDiesWithItsRunner) {
  RunningCommand command(Gated(Launch("suite", {"--gtest_filter=*.Leaks", "--gtest_repeat=-1"})));
  command.WaitFor("[ RUN      ]");
  ::kill(command.pid(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(command.pid(), SIGKILL);
  command.WaitForShellCode();
  EXPECT_TRUE(ComesTrue([&] { return ProcessesOfGroup(command.pid()) == 0; }));
}

TEST(LaunchLeftBehindTest, AClosedStandardErrorCostsNoReport) {
  const TemporaryDirectory directory;
  const std::string report = directory.File("report");
  RunCommand(Behind("exec 2> >(true); sleep 0.1", Gated({"true"}, {"--report", "json=" + report})));
  EXPECT_THAT(ReadFile(report), HasSubstr("\"verdict\": \"pass\""));
}

}  // namespace
}  // namespace leakgate::test
