// `leakgate session`: processes traced by name, below a session that outlives the command
// which started it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

class NamedSessionsTest : public testing::Test {
 protected:
  ~NamedSessionsTest() override { Leakgate({"session", "stop", name_}); }

  CommandResult Start(const std::vector<std::string>& images,
                      const std::vector<std::string>& program = {}) const {
    std::vector<std::string> arguments = {"session", "start", name_};
    for (const std::string& image : images) {
      arguments.insert(arguments.end(), {"--image", image});
    }
    if (!program.empty()) arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return Leakgate(arguments);
  }
  CommandResult Exec(std::vector<std::string> program, const std::string& input = "") const {
    program.insert(program.begin(), {"session", "exec", name_, "--"});
    return Leakgate(program, {.standard_input = input});
  }
  Json Query() const {
    return Json::parse(Leakgate({"session", "query", name_, "--json"}).standard_output);
  }
  Json Processes() const { return Query()["processes"]; }

  // Of this test alone: tests run side by side.
  const std::string name_ = NameOfThisTest();

 private:
  static std::string NameOfThisTest() {
    std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(test.begin(), test.end(), '/', '-');
    return "test-" + std::to_string(::getpid()) + "-" + test;
  }
};

const std::string kProgram = FixturePath("heap_on_request");

TEST_F(NamedSessionsTest, TracesWhatItNamesBelowIt) {
  ASSERT_EQ(Start({"heap_on_request"}).exit_code, 0);
  const CommandResult run = Exec({kProgram}, "keep 7 100\nkeep 3 10\ndrop 1\n");
  EXPECT_EQ(run.standard_output, "ready\ndone\ndone\ndone\n");

  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0]["path"], kProgram);
  EXPECT_EQ(processes[0]["state"], "ended");
  EXPECT_EQ(processes[0]["drops"], 0);
  EXPECT_GE(processes[0]["live"]["blocks"], 9);
}

TEST_F(NamedSessionsTest, CountsWhatIsLiveToTheByte) {
  ASSERT_EQ(Start({"heap_on_request"}).exit_code, 0);
  Exec({kProgram}, "");
  Exec({kProgram}, "keep 7 100\nkeep 3 10\ndrop 1\n");
  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(2));
  const Json& without = processes[0]["live"];
  const Json& with = processes[1]["live"];
  EXPECT_EQ(with["blocks"].get<int>() - without["blocks"].get<int>(), 9);
  EXPECT_EQ(with["bytes"].get<int>() - without["bytes"].get<int>(), 7 * 100 + 2 * 10);
}

TEST_F(NamedSessionsTest, TracesNothingElse) {
  ASSERT_EQ(Start({"heap_on_requests"}).exit_code, 0);
  EXPECT_EQ(Exec({kProgram}, "keep 1 1\n").exit_code, 0);
  EXPECT_THAT(Processes(), SizeIs(0));
}

TEST_F(NamedSessionsTest, TracesAtAnyDepth) {
  const TemporaryDirectory directory;
  const std::string makefile = directory.Write(
      "Makefile", "all:\n\t@echo | sh -c '" + kProgram + "; true' # by a shell of make's\n");
  const CommandResult run = Start({"heap_on_request"}, {"make", "-f", makefile});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.standard_output, HasSubstr("ready\n"));
  EXPECT_THAT(Processes(), SizeIs(1));
}

TEST_F(NamedSessionsTest, TracesEveryProgramByAStar) {
  ASSERT_EQ(Start({"*"}, {"sh", "-c", "ls / > /dev/null; true"}).exit_code, 0);
  EXPECT_THAT(Processes(), SizeIs(2));
}

TEST_F(NamedSessionsTest, TellsHostedProgramsApart) {
  const TemporaryDirectory directory;
  const std::string server = directory.Write("server.pl", "print 1;\n");
  const std::string client = directory.Write("client.pl", "print 2;\n");
  ASSERT_EQ(Start({"perl:server.pl"}).exit_code, 0);
  EXPECT_EQ(Exec({"perl", server}).standard_output, "1");
  EXPECT_EQ(Exec({"perl", client}).standard_output, "2");
  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0]["arguments"][1], server);
}

TEST_F(NamedSessionsTest, ChangesWhatItTracesWhileItRuns) {
  ASSERT_EQ(Start({"none"}).exit_code, 0);
  const CommandResult added = Leakgate(
      {"session", "update", name_, "--add-image", "heap_on_request", "--drop-image", "none"});
  EXPECT_EQ(added.exit_code, 0) << added.standard_error;
  EXPECT_THAT(added.standard_output, HasSubstr("traces heap_on_request\n"));
  Exec({kProgram});
  EXPECT_THAT(Processes(), SizeIs(1));
}

TEST_F(NamedSessionsTest, SaysWhatItCannotDrop) {
  ASSERT_EQ(Start({"a"}).exit_code, 0);
  const CommandResult result = Leakgate({"session", "update", name_, "--drop-image", "b"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("does not name the image b"));
}

TEST_F(NamedSessionsTest, PassesTheProgramsExitCodeOn) {
  EXPECT_EQ(Start({"a"}, {"sh", "-c", "exit 7"}).exit_code, 7);
}

TEST_F(NamedSessionsTest, SaysThatAProgramDoesNotExist) {
  const CommandResult result = Start({"a"}, {"/no/such/program"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("/no/such/program"));
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(name_)));
}

TEST_F(NamedSessionsTest, RefusesASecondOfItsName) {
  ASSERT_EQ(Start({"a"}).exit_code, 0);
  const CommandResult second = Start({"b"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.standard_error, HasSubstr("the session '" + name_ + "' exists already"));
}

TEST_F(NamedSessionsTest, SaysThatThereIsNone) {
  for (const char* const command : {"query", "stop", "update"}) {
    const CommandResult result = Leakgate({"session", command, name_});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.standard_error, HasSubstr("there is no session '" + name_ + "'"));
  }
}

TEST_F(NamedSessionsTest, SaysThatThereIsNoSuchProcess) {
  const CommandResult result =
      Leakgate({"session", "start", name_, "--pid", std::to_string(1 << 29)});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("there is no process with PID"));
}

TEST_F(NamedSessionsTest, IsListedUntilItIsStopped) {
  ASSERT_EQ(Start({"a"}).exit_code, 0);
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output,
              AllOf(HasSubstr(name_), HasSubstr("traces a\n")));
  EXPECT_EQ(Leakgate({"session", "stop", name_}).exit_code, 0);
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(name_)));
}

// Not until its parent, whoever that is by then, has noticed.
void SignalAndAwaitEnd(pid_t pid, int signal) {
  constexpr unsigned kNoFlags = 0;
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, pid, kNoFlags)), POLLIN, 0};
  ASSERT_EQ(::kill(pid, signal), 0);
  EXPECT_EQ(::poll(&end, 1, 10'000), 1);
  ::close(end.fd);
}

class NamedSessionsEndTest : public NamedSessionsTest, public testing::WithParamInterface<int> {};

// However the owner ends, its name is free again, and what it traced goes on.
TEST_P(NamedSessionsEndTest, LeavesNothingBehind) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.File("input");
  const std::string output = directory.File("output");
  ASSERT_EQ(Start({"heap_on_request"}).exit_code, 0);
  const pid_t owner = Query()["owner_pid"].get<int>();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int input = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // does not wait for a reader
  ASSERT_GE(input, 0);
  Exec({"sh", "-c", kProgram + " < " + fifo + " > " + output + " 2>&1 &"});
  while (Processes().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));

  SignalAndAwaitEnd(owner, GetParam());
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(name_)));
  constexpr std::string_view kLine = "keep 100 100\n";
  ASSERT_EQ(::write(input, kLine.data(), kLine.size()), static_cast<ssize_t>(kLine.size()));
  ::close(input);
  for (int i = 0; i < 6000 && ReadFile(output) != "ready\ndone\n"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ReadFile(output), "ready\ndone\n");
  EXPECT_EQ(Start({"a"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Signals, NamedSessionsEndTest, testing::Values(SIGTERM, SIGKILL),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "Kill" : "Term";
                         });

TEST_F(NamedSessionsTest, IsItsUsersAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  ASSERT_EQ(Start({"a"}).exit_code, 0);
  const PublicCopy copy;
  const CommandResult other = RunCommand(
      {"setpriv", "--reuid=65534", "--clear-groups", copy.Leakgate(), "session", "query", name_});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error, HasSubstr("there is no session"));
}

// Another user finds the control socket's name among the kernel's, and names a program alike.
class OthersInASessionTest : public NamedSessionsTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  }
  // Runs the program as user 65534, with what the session's programs are started with.
  CommandResult RunAsAnother() {
    const PublicCopy copy;
    const std::string program = copy.Add(FixturePath("measuring_plain"));
    const std::string script = "exec setpriv --reuid=65534 --clear-groups " + program;
    return Exec({"sh", "-c", script});
  }
  static testing::Matcher<Json> IsTraced() {
    return testing::ResultOf([](const Json& it) { return it["state"]; }, "ended");
  }
};

TEST_F(OthersInASessionTest, AreNotTracedUnlessTheirUserIsNamed) {
  ASSERT_EQ(Start({"measuring_plain"}).exit_code, 0);
  EXPECT_THAT(RunAsAnother().standard_output, HasSubstr("not measured"));
  ASSERT_THAT(Processes(), SizeIs(1));
  EXPECT_EQ(Processes()[0]["state"], "failed");
  EXPECT_THAT(Processes()[0]["problem"], testing::HasSubstr("it is another user's (UID 65534)"));
}

TEST_F(OthersInASessionTest, AreTracedWhereTheirUserIsNamed) {
  for (const std::string user : {"65534", "nobody", "all"}) {
    ASSERT_EQ(Leakgate({"session", "start", name_, "--image", "measuring_plain", "--user", user})
                  .exit_code,
              0);
    EXPECT_THAT(RunAsAnother().standard_output, HasSubstr("loaded: measured")) << user;
    EXPECT_THAT(Processes(), testing::ElementsAre(IsTraced())) << user;
    Leakgate({"session", "stop", name_});
  }
}

TEST_F(OthersInASessionTest, UserThatDoesNotExistIsAUsageError) {
  const CommandResult result =
      Leakgate({"session", "start", name_, "--image", "a", "--user", "no-such-user"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("--user no-such-user: no such user"));
}

TEST_F(OthersInASessionTest, OnlyRootNamesUsers) {
  const PublicCopy copy;
  const CommandResult result =
      RunCommand({"setpriv", "--reuid=65534", "--clear-groups", copy.Leakgate(), "session", "start",
                  name_, "--image", "a", "--user", "all"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("only root's sessions trace other users'"));
}

// A process with exactly that number, which runs `command` with the session's variables.
int RunAsPid(pid_t pid, const std::vector<std::string>& environment, const char* program) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&pid);
  arguments.set_tid_size = 1;
  const long child = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (child == 0) {
    for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
    ::execl(program, program, nullptr);
    ::_exit(127);
  }
  int status = -1;
  if (child > 0) ::waitpid(static_cast<pid_t>(child), &status, 0);
  return child > 0 ? status : -1;
}

// A session names a process, not a number: whoever is given the number next is nobody's.
TEST_F(OthersInASessionTest, ProcessThatIsGivenAnEndedOnesNumberIsNotTraced) {
  HeapOnRequest program;
  const pid_t pid = program.pid();
  ASSERT_EQ(Leakgate({"session", "start", name_, "--pid", std::to_string(pid)}).exit_code, 0);
  const std::string environment = Exec({"env"}).standard_output;
  std::vector<std::string> variables;
  for (const std::string name : {"LD_PRELOAD", "LEAKGATE_CONTROL"}) {
    const std::size_t at = environment.find(name + "=");
    ASSERT_NE(at, std::string::npos) << environment;
    variables.push_back(environment.substr(at, environment.find('\n', at) - at));
  }
  EXPECT_EQ(program.End(), 0);
  ASSERT_THAT(Processes(), SizeIs(1));

  ASSERT_EQ(RunAsPid(pid, variables, FixturePath("measuring_plain").c_str()), 0);
  EXPECT_THAT(Processes(), SizeIs(1));
  EXPECT_THAT(Query()["pids"], testing::IsEmpty());
}

// Tests below a session run as they do without: nobody judges them.
TEST_F(NamedSessionsTest, JudgesNoTests) {
  const std::string suite = FixturePath("kinds_listener");
  const CommandResult run = Start({"kinds_*"}, {suite, "--gtest_brief=1"});
  const CommandResult alone = RunCommand({suite, "--gtest_brief=1"});
  EXPECT_EQ(run.exit_code, alone.exit_code);
  EXPECT_THAT(run.standard_output, Not(HasSubstr("leakgate")));
  EXPECT_THAT(Processes(), SizeIs(1));
}

TEST_F(NamedSessionsTest, TellsAPersonWhatItHas) {
  const CommandResult start = Start({"heap_on_request", "perl:a.pl"});
  EXPECT_THAT(start.standard_error,
              AllOf(HasSubstr("traces heap_on_request, perl:a.pl\n"),
                    HasSubstr("leakgate session exec " + name_ + " -- COMMAND\n")));
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output, HasSubstr("no process yet"));
  Exec({kProgram}, "keep 1 100\n");
  EXPECT_THAT(Leakgate({"session", "query", name_}).standard_output,
              testing::ContainsRegex("heap_on_request  ended .* live, .* allocated\n"));
}

}  // namespace
}  // namespace leakgate::test
