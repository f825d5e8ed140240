// However either side ends, nothing of the other is left behind.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

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
  for (int i = 0; i < 100 && ProcessesOfGroup(command.pid()) > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ProcessesOfGroup(command.pid()), 0);
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
  for (int i = 0; i < 100 && OpenControlSockets() > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(OpenControlSockets(), before);
}

// The runner is stopped, so that it cannot answer, and then killed.
TEST(LaunchLeftBehindTest, AProgramThatWaitsForAVerdictDiesWithItsRunner) {
  RunningCommand command(Gated(Launch("suite", {"--gtest_filter=*.Leaks", "--gtest_repeat=-1"})));
  command.WaitFor("[ RUN      ]");
  ::kill(command.pid(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(command.pid(), SIGKILL);
  command.WaitForShellCode();
  for (int i = 0; i < 200 && ProcessesOfGroup(command.pid()) > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ProcessesOfGroup(command.pid()), 0);
}

TEST(LaunchLeftBehindTest, AClosedStandardErrorCostsNoReport) {
  const TemporaryDirectory directory;
  const std::string report = directory.File("report");
  RunCommand(Behind("exec 2> >(true); sleep 0.1", Gated({"true"}, {"--report", "json=" + report})));
  EXPECT_THAT(ReadFile(report), HasSubstr("\"verdict\": \"pass\""));
}

}  // namespace
}  // namespace leakgate::test
