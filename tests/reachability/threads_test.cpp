// A look costs the program nothing but time: its threads go on as before. If the program cannot be
// stopped, the error says so.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runner/reach/linux/frozen_process.h"
#include "tests/reachability/traced_program.h"
#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Returns the state that /proc tells: 'R', 'S', 'T', 't' ...
char StateOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? '-' : text[end + 2];
}

// Waits a second at most until the process has that state. Returns whether it has.
bool Becomes(int pid, char state) {
  for (int i = 0; i < 1000 && StateOf(pid) != state; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return StateOf(pid) == state;
}

// Freezes a process, calls `look` and thaws it, on a thread of its own, as FindReach does. Returns
// the error; empty if there is none.
template <typename Look>
std::string LookAtFrozen(int pid, Look look) {
  std::string error;
  std::thread([&] {
    Expected<FrozenProcess> process = FrozenProcess::Freeze(pid);
    if (!process) {
      error = process.error().message;
    } else {
      look(*process);
    }
  }).join();
  return error;
}

// Returns the signal that ends the program within a second.
std::optional<int> EndingSignal(TracedProgram& program) {
  for (int i = 0; i < 1000; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
    if (const auto status = program.process().Poll()) return status->signal;
  }
  return std::nullopt;
}

TEST(FreezeTest, StopsAllOfManyThreads) {
  TracedProgram program(FixturePath("reachability"), {"500"});
  std::size_t threads = 0;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(LookAtFrozen(program.pid(),
                         [&](const FrozenProcess& frozen) { threads = frozen.threads().size(); }),
            "");
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(threads, 502U);  // with the main one and "holder"
  RecordProperty("milliseconds", std::to_string(took / milliseconds(1)));
  EXPECT_TRUE(Becomes(program.pid(), 'S'));
}

TEST(FreezeTest, AWaitingProgramGoesOnWaiting) {
  TracedProgram program(FixturePath("reachability"));
  EXPECT_EQ(LookAtFrozen(program.pid(),
                         [&](const FrozenProcess&) { EXPECT_EQ(StateOf(program.pid()), 't'); }),
            "");
  EXPECT_TRUE(Becomes(program.pid(), 'S'));
  EXPECT_FALSE(program.process().Poll());
}

TEST(FreezeTest, AStoppedProgramStaysStopped) {
  TracedProgram program(FixturePath("reachability"));
  ::kill(program.pid(), SIGSTOP);
  ASSERT_TRUE(Becomes(program.pid(), 'T'));
  EXPECT_EQ(LookAtFrozen(program.pid(), [](const FrozenProcess&) {}), "");
  EXPECT_TRUE(Becomes(program.pid(), 'T'));
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(Becomes(program.pid(), 'S'));
}

TEST(FreezeTest, ASignalThatArrivesMeanwhileIsTaken) {
  TracedProgram program(FixturePath("reachability"));
  EXPECT_EQ(
      LookAtFrozen(program.pid(), [&](const FrozenProcess&) { ::kill(program.pid(), SIGTERM); }),
      "");
  EXPECT_EQ(EndingSignal(program), SIGTERM);
}

TEST(FreezeTest, AProgramThatIsKilledMeanwhileEnds) {
  TracedProgram program(FixturePath("reachability"), {"20"});
  EXPECT_EQ(
      LookAtFrozen(program.pid(), [&](const FrozenProcess&) { ::kill(program.pid(), SIGKILL); }),
      "");
  EXPECT_EQ(EndingSignal(program), SIGKILL);
}

TEST(FreezeTest, ASecondLookAtAProgramIsLikeTheFirst) {
  TracedProgram program(FixturePath("reachability"));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(LookAtFrozen(program.pid(), [](const FrozenProcess&) {}), "");
  EXPECT_EQ(program.ReachOf(1001).front().reach, Reach::kRetained);
}

TEST(FreezeTest, SaysThatADebuggerTracesTheProgram) {
  TracedProgram program(FixturePath("reachability"));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t debugger = ::fork();
  if (debugger == 0) {
    const char result = ::ptrace(PTRACE_SEIZE, program.pid(), nullptr, nullptr) == 0 ? 'y' : 'n';
    while (::write(ready[1], &result, 1) == 1) ::pause();
    ::_exit(0);
  }
  char result = 0;
  ASSERT_EQ(::read(ready[0], &result, 1), 1);
  ASSERT_EQ(result, 'y');
  EXPECT_THAT(LookAtFrozen(program.pid(), [](const FrozenProcess&) {}),
              HasSubstr("a debugger (PID " + std::to_string(debugger) + ") already traces"));
  ::kill(debugger, SIGKILL);
  ::waitpid(debugger, nullptr, 0);
  EXPECT_EQ(LookAtFrozen(program.pid(), [](const FrozenProcess&) {}), "");
}

// A stop ends epoll_wait, unlike most system calls, with EINTR.
TEST(FreezeTest, ASystemCallThatStopsEndIsBegunAgain) {
  int returned[2];
  ASSERT_EQ(::pipe2(returned, O_NONBLOCK), 0);
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    epoll_event event;
    ::epoll_wait(::epoll_create1(0), &event, 1, -1);
    ::_exit(::write(returned[1], "!", 1) == 1 ? 0 : 1);
  }
  ASSERT_TRUE(Becomes(waiting, 'S'));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(LookAtFrozen(waiting, [](const FrozenProcess&) {}), "");
    EXPECT_TRUE(Becomes(waiting, 'S'));
  }
  char byte = 0;
  EXPECT_EQ(::read(returned[0], &byte, 1), -1);
  ::kill(waiting, SIGKILL);
  ::waitpid(waiting, nullptr, 0);
}

// Starts a process that does nothing but use the first processor, until it is killed. Returns its
// PID.
template <typename Begin>
pid_t UseTheFirstProcessor(Begin begin) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (::sched_setaffinity(0, sizeof(first), &first) != 0 || !begin()) ::_exit(1);
  for (;;) {
  }
}

TEST(FreezeTest, AThreadThatGetsNoProcessorForSecondsIsWaitedFor) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may put itself before others";
  const pid_t idle = UseTheFirstProcessor([] {
    const sched_param none{};
    return ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
  });
  std::this_thread::sleep_for(milliseconds(100));  // it has had its turn
  const pid_t busy = UseTheFirstProcessor([] { return ::setpriority(PRIO_PROCESS, 0, -20) == 0; });
  std::this_thread::sleep_for(milliseconds(100));
  std::thread relief([busy] {
    std::this_thread::sleep_for(milliseconds(3000));
    ::kill(busy, SIGKILL);
  });
  std::size_t threads = 0;
  EXPECT_EQ(
      LookAtFrozen(idle, [&](const FrozenProcess& frozen) { threads = frozen.threads().size(); }),
      "");
  EXPECT_EQ(threads, 1U);
  relief.join();
  ::kill(idle, SIGKILL);
  for (const pid_t pid : {idle, busy}) EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

// Runs ShapesTest as a user without any rights of root's.
TEST(FreezeTest, WorksAsAnOrdinaryUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "is what all of these tests try";
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups"};
  const auto run = [&](std::vector<std::string> command) {
    command.insert(command.begin(), as_nobody.begin(), as_nobody.end());
    return RunCommand(command);
  };
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  if (run({"test", "-x", self}).exit_code != 0) GTEST_SKIP() << "others may not enter the checkout";
  const CommandResult result = run({self, "--gtest_filter=ShapesTest.*"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
}

TEST(FreezeTest, SaysThatTheProgramHasEnded) {
  TracedProgram program(FixturePath("reachability"));
  ::kill(program.pid(), SIGKILL);
  ASSERT_TRUE(Becomes(program.pid(), 'Z'));
  EXPECT_THAT(LookAtFrozen(program.pid(), [](const FrozenProcess&) {}), HasSubstr("has ended"));
}

}  // namespace
}  // namespace leakgate::test
