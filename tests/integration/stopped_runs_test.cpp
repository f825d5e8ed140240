// A program, its runner or both that are stopped for a while, as by a debugger, a full machine
// or somebody who wonders what they do: no verdict changes. LEAKGATE_STOP_SECONDS: for how long.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "runner/base/descriptors.h"
#include "runner/base/linux/local_socket.h"
#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::chrono::milliseconds Pause() {
  const char* const seconds = std::getenv("LEAKGATE_STOP_SECONDS");
  return std::chrono::milliseconds(seconds == nullptr ? 300 : 1000 * std::atoi(seconds));
}

pid_t PidOf(pid_t group, const std::string& image) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || ::getpgid(pid) != group) continue;
    if (fs::read_symlink(entry.path() / "exe", error) == image) return pid;
  }
  return 0;
}

void Send(pid_t pid, int signal) {
  if (pid > 0) ::kill(pid, signal);
}

struct Stop {
  const char* name;
  bool of_program;
  bool of_runner;
};

class StoppedRunsTest : public testing::Test {
 protected:
  Command Suite() const {
    return Gated(
        {program_, "--gtest_brief=1", "--gtest_repeat=5"},
        {"--budgets", std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json",
         "--report", "json=" + directory_.File("report")});
  }

  // Of each window what was found, and what became of it.
  std::vector<std::string> Verdicts() const {
    std::vector<std::string> verdicts;
    const Json report = Json::parse(ReadFile(directory_.File("report")));
    for (const Json& window : report["windows"]) {
      verdicts.push_back(window["name"].get<std::string>() + " " + window["verdict"].dump() + " " +
                         window["outstanding"].dump() + " " + window["lost"].dump());
    }
    verdicts.push_back(report["verdict"].dump());
    return verdicts;
  }

  std::vector<std::string> VerdictsWithoutAStop() {
    EXPECT_EQ(RunCommand(Quietly(Suite())).exit_code, 1);
    return Verdicts();
  }

  static Command Quietly(const Command& command) {
    return Behind("exec > /dev/null 2>&1", command);
  }

  const std::string program_ = FixturePath("language_untouched");
  const TemporaryDirectory directory_;
};

class StoppedAtRandomTest : public StoppedRunsTest, public testing::WithParamInterface<Stop> {};

TEST_P(StoppedAtRandomTest, AreJudgedAsWithoutAStop) {
  const std::vector<std::string> expected = VerdictsWithoutAStop();
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 3; ++round) {
    RunningCommand run(Quietly(Suite()));
    const auto delay = std::chrono::milliseconds(10 + random() % 120);
    SCOPED_TRACE("stopped after " + std::to_string(delay.count()) + " ms");
    std::this_thread::sleep_for(delay);
    const pid_t program = GetParam().of_program ? PidOf(run.pid(), program_) : 0;
    const pid_t runner = GetParam().of_runner ? run.pid() : 0;
    Send(program, SIGSTOP);
    Send(runner, SIGSTOP);
    std::this_thread::sleep_for(Pause());
    Send(program, SIGCONT);
    Send(runner, SIGCONT);
    EXPECT_EQ(run.WaitForShellCode(), 1);
    EXPECT_EQ(Verdicts(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(, StoppedAtRandomTest,
                         testing::Values(Stop{"Program", true, false}, Stop{"Runner", false, true},
                                         Stop{"Both", true, true}),
                         [](const auto& test) { return std::string(test.param.name); });

// At each of the calls by which it launches the program: that waits for the runner's answer.
TEST_F(StoppedRunsTest, AreJudgedWhereTheRunnerStopsAsItLaunches) {
  if (RunCommand({"strace", "-e", "trace=none", "true"}).exit_code != 0) {
    GTEST_SKIP() << "nothing can be traced by strace here";
  }
  const std::vector<std::string> expected = VerdictsWithoutAStop();
  for (const std::string when : {"1", "2", "3"}) {
    SCOPED_TRACE("at ptrace number " + when);
    Command command = {"strace",
                       "-o",
                       "/dev/null",
                       "-e",
                       "trace=ptrace",
                       "-e",
                       "inject=ptrace:signal=STOP:when=" + when};
    const Command suite = Suite();
    command.insert(command.end(), suite.begin(), suite.end());
    RunningCommand run(Quietly(command));
    std::this_thread::sleep_for(Pause());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(-run.pid(), SIGCONT);
    EXPECT_EQ(run.WaitForShellCode(), 1);
    EXPECT_EQ(Verdicts(), expected);
  }
}

// A runner that is stopped for longer than a stranger is waited for, while as many wait for it as
// may: a child that budgets name is judged all the same, and is not let run untraced.
TEST(FullQueuesTest, OfAStoppedRunnerLetNoChildPass) {
  constexpr rlim_t kEnough = 8192;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < kEnough) GTEST_SKIP() << "too few files may be open here";
  const TemporaryDirectory directory;
  const std::string budgets = directory.Write(
      "a.leakgate.json", "{\"component\": \"a\", \"processes\": [\"process_helper\"]}\n");
  RunningCommand run(Gated({"bash", "-c",
                            "echo control $LEAKGATE_CONTROL; read line; " +
                                FixturePath("process_helper") + " loses returns; exit 0"},
                           {"--budgets", budgets}));
  const AbstractAddress address(run.WaitFor("control"));
  Send(run.pid(), SIGSTOP);
  std::vector<UniqueFd> waiting;
  const auto connect = [&] {
    waiting.emplace_back(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return ::connect(waiting.back().get(), address.get(), address.size()) == 0;
  };
  while (connect()) continue;
  EXPECT_EQ(errno, EAGAIN);
  run.EndInput();
  std::this_thread::sleep_for(std::chrono::seconds(4));
  waiting.clear();
  Send(run.pid(), SIGCONT);
  EXPECT_EQ(run.WaitForShellCode(), 1);
}

}  // namespace
}  // namespace leakgate::test
