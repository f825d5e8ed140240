// Signals reach the program as often as they would without leakgate: once,
// whether they are sent to leakgate or to the whole process group.
#include <gmock/gmock.h>

#include <ostream>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

// What the program counts when `send` is called with leakgate's PID.
template <typename Send>
std::string Count(Send send) {
  RunningCommand command(Gated(Launch("signal_count")));
  const pid_t program = std::stoi(command.WaitFor("ready"));
  send(command.pid(), program);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  command.EndInput();
  return command.RestOfOutput();
}

struct SignalCase {
  const char* name;
  int signal;

  friend void PrintTo(const SignalCase& sent, std::ostream* stream) { *stream << sent.name; }
};

class LaunchSignalTest : public testing::TestWithParam<SignalCase> {};

TEST_P(LaunchSignalTest, ToTheRunnerAloneIsPassedOnOnce) {
  EXPECT_EQ(Count([](pid_t runner, pid_t) { ::kill(runner, GetParam().signal); }),
            std::string(GetParam().name) + " 1\n");
}

TEST_P(LaunchSignalTest, ToTheGroupReachesTheProgramOnce) {
  EXPECT_EQ(Count([](pid_t runner, pid_t) { ::kill(-runner, GetParam().signal); }),
            std::string(GetParam().name) + " 1\n");
}

TEST_P(LaunchSignalTest, ToTheProgramReachesItOnce) {
  EXPECT_EQ(Count([](pid_t, pid_t program) { ::kill(program, GetParam().signal); }),
            std::string(GetParam().name) + " 1\n");
}

INSTANTIATE_TEST_SUITE_P(, LaunchSignalTest,
                         testing::Values(SignalCase{"INT", SIGINT}, SignalCase{"TERM", SIGTERM},
                                         SignalCase{"HUP", SIGHUP}, SignalCase{"QUIT", SIGQUIT},
                                         SignalCase{"USR1", SIGUSR1}, SignalCase{"USR2", SIGUSR2},
                                         SignalCase{"WINCH", SIGWINCH}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(LaunchSignalsTest, SignalsOneAfterTheOtherAreAllPassedOn) {
  EXPECT_EQ(Count([](pid_t runner, pid_t) {
              for (int i = 0; i < 3; ++i) {
                ::kill(runner, SIGINT);
                std::this_thread::sleep_for(std::chrono::milliseconds(60));
              }
            }),
            "INT 3\n");
}

// perl -e 'alarm 5; exec @ARGV' and its like end a program that takes too long.
TEST(LaunchSignalsTest, AnAlarmSetBeforeLeakgateReachesTheProgram) {
  const std::string alarm =
      "import os, signal, sys\nsignal.alarm(1)\nos.execvp(sys.argv[1], sys.argv[1:])";
  Command command = {"python3", "-c", alarm};
  const Command gated = Gated({"sleep", "20"});
  command.insert(command.end(), gated.begin(), gated.end());
  EXPECT_EQ(RunCommand(command).exit_code, 128 + SIGALRM);
}

TEST(LaunchSignalsTest, AProgramThatDiesOfThemEndsTheRunInOrder) {
  const TemporaryDirectory directory;
  RunningCommand command(Gated(Launch("suite", {"--gtest_filter=*.Hangs"}),
                               {"--report", "json=" + directory.File("r")}));
  command.WaitFor("hanging");
  ::kill(command.pid(), SIGTERM);
  EXPECT_EQ(command.WaitForShellCode(), 128 + SIGTERM);
  EXPECT_THAT(ReadFile(directory.File("r")), testing::HasSubstr("\"signal\": 15"));
}

}  // namespace
}  // namespace leakgate::test
