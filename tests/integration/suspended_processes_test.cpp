// Processes that somebody else has launched suspended, or stopped: enabled while they are
// stopped, and still stopped afterwards.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "tests/integration/launch_commands.h"
#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/processor.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::StartsWith;
using Json = nlohmann::json;

// Launched, and stopped at its first instruction. Its parent traces it until then.
class Launched {
 public:
  explicit Launched(std::vector<std::string> command, const std::function<void()>& before = {}) {
    if (::pipe2(output_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(output_[1], 1);
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      if (before) before();
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(output_[1]);
    ::waitpid(pid_, nullptr, 0);
  }
  ~Launched() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(output_[0]);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  pid_t pid() const { return pid_; }

  void DetachStopped() const {
    ::ptrace(PTRACE_DETACH, pid_, nullptr, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }

  // All that it writes until it ends.
  std::string Resume() const {
    ::kill(pid_, SIGCONT);
    std::string text;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(output_[0], bytes, sizeof(bytes))) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int output_[2] = {-1, -1};
  pid_t pid_ = -1;
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// 'R', 'S', 'T', 't' ...
char StateOf(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat.at(stat.rfind(')') + 2);
}

// Neither has it stopped anew nor gone on, as far as its parent can see. A process that its tracer
// lets go runs in the kernel for a moment before it is stopped by the signal again.
void ExpectUnchangedForItsParent(pid_t pid) {
  EXPECT_TRUE(ComesTrue([&] { return StateOf(pid) == 'T'; }));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED), 0) << status;
}

class SuspendedProcessesTest : public testing::Test {
 protected:
  ~SuspendedProcessesTest() override { Leakgate({"session", "stop", session_}); }

  CommandResult Enable(pid_t pid) const {
    return Leakgate({"session", "start", session_, "--pid", std::to_string(pid)});
  }
  Json Processes() const { return ProcessesOf(session_); }
  static Json ProcessesOf(const std::string& session) {
    return Json::parse(
        Leakgate({"session", "query", session, "--json"}).standard_output)["processes"];
  }

  const std::string session_ = "suspended-" + std::to_string(::getpid());
};

TEST_F(SuspendedProcessesTest, AreTracedFromTheirFirstInstruction) {
  HeapOnRequest program(Suspended::kAtFirstInstruction);
  const CommandResult enabled = Enable(program.pid());
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  ExpectUnchangedForItsParent(program.pid());
  program.Resume();
  program.Keep(7, 100);
  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(processes[0]["state"], "tracing");
  EXPECT_FALSE(processes[0].contains("attached_seconds"));

  // To the block what is seen where leakgate launches it.
  const std::string other = session_ + "-launched";
  HeapOnRequest launched(other);
  launched.Keep(7, 100);
  const Json expected = ProcessesOf(other);
  Leakgate({"session", "stop", other});
  ASSERT_THAT(expected, SizeIs(1));
  EXPECT_EQ(processes[0]["allocated"], expected[0]["allocated"]);
  EXPECT_EQ(processes[0]["live"], expected[0]["live"]);
  EXPECT_EQ(program.End(), 0);
}

// As `leakgate run` gives it: what it had, and two more.
TEST_F(SuspendedProcessesTest, KeepTheirEnvironmentAndArguments) {
  const Launched program(
      {"/usr/bin/env", "-u", "NOTHING", "/bin/sh", "-c", "env; echo \"args $0 $1\"", "a b", ""},
      [] {
        ::setenv("LEAKGATE_TEST_EMPTY", "", 1);
        ::setenv("LEAKGATE_TEST_LONG", std::string(70000, 'x').c_str(), 1);
        ::setenv("LD_PRELOAD", "libm.so.6", 1);
      });
  program.DetachStopped();
  ASSERT_EQ(Enable(program.pid()).exit_code, 0);
  const std::vector<std::string> lines = LinesOf(program.Resume());
  EXPECT_THAT(lines,
              IsSupersetOf({std::string("LEAKGATE_TEST_EMPTY="),
                            "LEAKGATE_TEST_LONG=" + std::string(70000, 'x'),
                            std::string("PATH=") + ::getenv("PATH"), std::string("args a b ")}));
  EXPECT_THAT(lines,
              Contains(testing::MatchesRegex("LD_PRELOAD=/.*/libleakgate_agent.so:libm.so.6")));
  EXPECT_THAT(lines, Contains(StartsWith("LEAKGATE_CONTROL=leakgate-")));
}

// The dynamic linker shows what it finds there.
TEST_F(SuspendedProcessesTest, KeepWhatTheKernelTellsThem) {
  const Launched program({"/bin/true"}, [] { ::setenv("LD_SHOW_AUXV", "1", 1); });
  program.DetachStopped();
  ASSERT_EQ(Enable(program.pid()).exit_code, 0);
  const std::string shown = program.Resume();
  EXPECT_THAT(shown, testing::ContainsRegex("AT_EXECFN: *[^ ]*/bin/true"));
  EXPECT_THAT(shown, testing::ContainsRegex(std::string("AT_PLATFORM: *") + kPlatform));
}

TEST_F(SuspendedProcessesTest, AreFollowedIntoWhatTheyExecute) {
  HeapOnRequest program(Suspended::kBeforeExec);
  const CommandResult enabled = Enable(program.pid());
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  ExpectUnchangedForItsParent(program.pid());
  program.Resume();
  const std::size_t before = program.BytesInUse();
  program.Keep(7, 1000);
  const Json processes = Processes();
  ASSERT_THAT(processes, SizeIs(2));
  EXPECT_THAT(processes[0]["path"].get<std::string>(), testing::EndsWith("sh"));
  EXPECT_EQ(processes[0]["state"], "ended");
  EXPECT_THAT(processes[1]["path"].get<std::string>(), testing::EndsWith("/heap_on_request"));
  EXPECT_EQ(processes[1]["state"], "tracing");
  EXPECT_FALSE(processes[1].contains("attached_seconds"));
  EXPECT_GE(processes[1]["live"]["bytes"].get<std::size_t>(), 7000U + (std::size_t{8} << 20));
  EXPECT_GE(program.BytesInUse(), before + 7000U);
  EXPECT_EQ(program.End(), 0);
}

TEST_F(SuspendedProcessesTest, AreTracedAtOnceInTheMiddleOfTheirLife) {
  HeapOnRequest program;
  program.Keep(100, 1000);
  ::kill(program.pid(), SIGSTOP);
  ::waitpid(program.pid(), nullptr, WUNTRACED);
  const CommandResult enabled = Enable(program.pid());
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  ExpectUnchangedForItsParent(program.pid());
  EXPECT_EQ(Processes()[0]["state"], "tracing");
  ::kill(program.pid(), SIGCONT);
  program.Keep(7, 100);
  program.Drop(3);
  EXPECT_EQ(Processes()[0]["live"]["blocks"], 4);
  EXPECT_EQ(program.End(), 0);
}

// One that is stopped is dropped like any other, too.
TEST_F(SuspendedProcessesTest, CanBeDroppedWhileTheyAreStopped) {
  HeapOnRequest program;
  ASSERT_EQ(Enable(program.pid()).exit_code, 0);
  program.Keep(7, 100);
  ::kill(program.pid(), SIGSTOP);
  ::waitpid(program.pid(), nullptr, WUNTRACED);
  const CommandResult dropped =
      Leakgate({"session", "update", session_, "--drop-pid", std::to_string(program.pid())});
  EXPECT_EQ(dropped.exit_code, 0) << dropped.standard_error;
  ExpectUnchangedForItsParent(program.pid());
  EXPECT_EQ(Processes()[0]["state"], "disabled");
  ::kill(program.pid(), SIGCONT);
  EXPECT_EQ(program.End(), 0);
}

TEST_F(SuspendedProcessesTest, AreEnabledInASessionThatIsThere) {
  ASSERT_EQ(Leakgate({"session", "start", session_, "--image", "none"}).exit_code, 0);
  HeapOnRequest program(Suspended::kAtFirstInstruction);
  const std::string pid = std::to_string(program.pid());
  const CommandResult enabled =
      Leakgate({"snapshot", "config", "--pid", pid, "--session", session_, "enable"});
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  EXPECT_THAT(Processes(), SizeIs(0));
  program.Resume();
  EXPECT_THAT(Processes(), SizeIs(1));
}

TEST_F(SuspendedProcessesTest, AreOneSessionsAlone) {
  HeapOnRequest program(Suspended::kAtFirstInstruction);
  const std::string pid = std::to_string(program.pid());
  const CommandResult enabled = Enable(program.pid());
  ASSERT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  EXPECT_THAT(enabled.standard_error,
              HasSubstr("PID " + pid +
                        " is stopped, as it was; once it is sent SIGCONT it goes on, "
                        "traced: kill -CONT " +
                        pid));
  const std::string refusal = "leakgate: PID " + pid + " is suspended, and the session '" +
                              session_ +
                              "' has it already; drop it there first: leakgate session "
                              "update " +
                              session_ + " --drop-pid " + pid + "\n";
  const std::string other = session_ + "-other";
  const std::vector<std::vector<std::string>> commands = {
      {"session", "start", other, "--pid", pid},
      {"snapshot", "config", "--pid", pid, "--session", other, "enable"},
      {"record", "--pid", pid, "-o", testing::TempDir() + other + ".recording"}};
  for (const std::vector<std::string>& command : commands) {
    const CommandResult refused = Leakgate(command);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.standard_error, refusal);
    EXPECT_EQ(Leakgate({"session", "query", other}).exit_code, 2);
  }
  program.Resume();
  EXPECT_THAT(Processes(), SizeIs(1));
}

// It carries the agent, which finds nobody, and stays off.
TEST_F(SuspendedProcessesTest, BeginAsEverOnceTheirSessionHasStopped) {
  HeapOnRequest program(Suspended::kAtFirstInstruction);
  ASSERT_EQ(Enable(program.pid()).exit_code, 0);
  ASSERT_EQ(Leakgate({"session", "stop", session_}).exit_code, 0);
  program.Resume();
  program.Keep(7, 100);
  EXPECT_EQ(program.End(), 0);
}

TEST_F(SuspendedProcessesTest, AreRefusedWhileADebuggerHoldsThem) {
  const Launched program({"/bin/true"});
  const CommandResult refused = Enable(program.pid());
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(LinesOf(refused.standard_error),
            std::vector<std::string>{"leakgate: a debugger (PID " + std::to_string(::getpid()) +
                                     ") traces PID " + std::to_string(program.pid()) +
                                     " already; end it, or if it is the launcher, have it detach "
                                     "(PTRACE_DETACH with SIGSTOP), then try again"});
  EXPECT_EQ(StateOf(program.pid()), 't');
}

TEST_F(SuspendedProcessesTest, AreRefusedIfTheyAreStatic) {
  const Launched program({FixturePath("attach_static")});
  program.DetachStopped();
  const CommandResult refused = Enable(program.pid());
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.standard_error, HasSubstr("statically linked"));
  ExpectUnchangedForItsParent(program.pid());
}

// A user's process that is about to run a file of root's with root's rights.
TEST_F(SuspendedProcessesTest, AreRefusedWithTheRightsOfTheirFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file set-uid";
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0755);
  const std::string file = directory.File("set_uid");
  std::filesystem::copy_file(FixturePath("heap_on_request"), file);
  ASSERT_EQ(::chmod(file.c_str(), 04755), 0);
  const Launched program({file}, [] { (void)!::setuid(65534); });
  const std::string status = ReadFile("/proc/" + std::to_string(program.pid()) + "/status");
  if (status.find("Uid:\t65534\t0\t") == std::string::npos) {
    GTEST_SKIP() << "set-uid has no effect here";
  }
  program.DetachStopped();
  const CommandResult refused = Enable(program.pid());
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.standard_error, HasSubstr("such processes are never traced; start a copy"));
  ExpectUnchangedForItsParent(program.pid());
}

}  // namespace
}  // namespace leakgate::test
