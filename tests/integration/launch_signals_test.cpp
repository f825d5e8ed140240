// Signals reach the program as often as they would without leakgate: once,
// whether they are sent to leakgate or to the whole process group.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
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

// The first signal is the program's: main has returned, and what it left is being looked at. Its
// libraries' debug files are huge, and it takes minutes to tell that they are not theirs. The
// second one, once the program has ended, is the runner's.
TEST(LaunchSignalsTest, EndTheRunnerOnceTheProgramHasEnded) {
  const TemporaryDirectory directory;
  directory.Write("library.cpp",
                  "#include <cstdlib>\nextern \"C\" void Leak() { std::malloc(100); }\n");
  directory.Write("program.cpp",
                  "#include <cstdio>\n#include <dlfcn.h>\n#include <unistd.h>\n"
                  "int main(int count, char** names) {\n"
                  "  for (int i = 1; i < count; ++i)\n"
                  "    ((void (*)())dlsym(dlopen(names[i], RTLD_NOW), \"Leak\"))();\n"
                  "  std::printf(\"pid %d\\n\", getpid());\n  std::fflush(stdout);\n}\n");
  const CommandResult built = RunCommand(
      {"bash", "-c",
       "g++ -O0 program.cpp -o program && g++ -O0 -shared -fPIC -Wl,--build-id=none library.cpp "
       "-o 1.so && echo > 1.debug && objcopy --add-gnu-debuglink=1.debug 1.so && "
       "rm 1.debug && truncate -s 8G 1.debug && for i in $(seq 2 20); do cp 1.so $i.so; done"},
      {.directory = directory.path()});
  ASSERT_EQ(built.exit_code, 0) << built.standard_error;
  const std::string budget = directory.Write(
      "budget.json", R"({"component": "a", "limits": {"program": {"outstanding": {"bytes": 0}}}})");
  const std::string report = directory.File("report.json");
  Command program = {directory.File("program")};
  for (int i = 1; i <= 20; ++i) program.push_back(directory.File(std::to_string(i) + ".so"));
  RunningCommand run(Gated(program, {"--budgets", budget, "--report", "json=" + report}));
  const pid_t pid = std::stoi(run.WaitFor("pid"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(run.pid(), SIGTERM);
  ASSERT_TRUE(GoesSoon(pid));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  ::kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.WaitForShellCode(), 128 + SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_FALSE(std::filesystem::exists(report));
}

// A report into a FIFO that nobody reads.
TEST(LaunchSignalsTest, EndTheRunnerWhileItWritesReports) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  RunningCommand run(Gated({"sh", "-c", "echo pid $$"}, {"--report", "json=" + fifo}));
  const pid_t pid = std::stoi(run.WaitFor("pid"));
  while (!IsGone(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ::kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.WaitForShellCode(), 128 + SIGTERM);
}

}  // namespace
}  // namespace leakgate::test
