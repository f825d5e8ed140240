// What cannot be attached to is refused with the reason, and is not touched.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "runner/attach/linux/target_layout.h"
#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"
#include "tests/attach/attached_program.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string EnableError(int pid) {
  const auto enabled = EnableRunning({.pid = pid, .control = "none", .agent = AgentPath()});
  return enabled ? "" : enabled.error().message;
}

// A child that does what it is told until it is killed.
template <typename Work>
class Child {
 public:
  explicit Child(const Work& work) : pid_(::fork()) {
    if (pid_ != 0) return;
    work();
    for (;;) ::pause();
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(AttachRefusalTest, NoSuchProcess) {
  EXPECT_THAT(EnableError(0x3FFF'FFFF), HasSubstr("there is no such process"));
  EXPECT_THAT(EnableError(-1), HasSubstr("there is no such process"));
}

// Closed where another program is executed.
struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

// What is read of a process that goes is not taken for a C library that is not known.
TEST(AttachRefusalTest, AProcessThatEndsOrExecutesMeanwhile) {
  const auto read_after = [](char change) {
    const Pipe order;
    Pipe life;
    const Child child([&] {
      char byte = 0;
      (void)!::read(order.read_end.get(), &byte, 1);
      if (byte == 'x') ::execlp("sleep", "sleep", "60", nullptr);
      ::_exit(0);
    });
    life.write_end.Reset();
    const auto memory = TargetMemory::Open(child.pid());
    if (!memory) return memory.error().message;
    (void)!::write(order.write_end.get(), &change, 1);
    char byte = 0;
    (void)!::read(life.read_end.get(), &byte, 1);  // closed: it has executed, or ended
    const auto layout = TargetLayout::Read(*memory);
    return layout ? "read" : layout.error().message;
  };
  EXPECT_THAT(read_after('x'), HasSubstr("has executed another program meanwhile; try again"));
  EXPECT_THAT(read_after('e'), HasSubstr(" has ended"));
}

TEST(AttachRefusalTest, AProcessThatNobodyHasCollectedYet) {
  const Child child([] { ::_exit(0); });
  while (!HasDied(child.pid(), child.pid())) std::this_thread::yield();
  EXPECT_THAT(EnableError(child.pid()), HasSubstr(" has ended"));
}

TEST(AttachRefusalTest, ItsOwnProcess) {
  EXPECT_THAT(EnableError(::getpid()), HasSubstr("is leakgate itself"));
}

TEST(AttachRefusalTest, AThreadThatIsNoProcess) {
  AttachedProgram program;
  ASSERT_EQ(program.Ask("threads 1"), "ok");
  int thread = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(program.pid()) + "/task")) {
    const int tid = std::stoi(entry.path().filename());
    if (tid == program.pid()) continue;
    thread = thread == 0 ? tid : std::min(thread, tid);  // the others come and go
  }
  EXPECT_THAT(EnableError(thread),
              HasSubstr("is a thread of PID " + std::to_string(program.pid())));
}

TEST(AttachRefusalTest, AProcessThatHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t seen{};
  ::waitid(P_PID, static_cast<id_t>(pid), &seen, WEXITED | WNOWAIT);
  EXPECT_THAT(EnableError(pid), HasSubstr("has ended"));
  ::waitpid(pid, nullptr, 0);
}

TEST(AttachRefusalTest, AProcessThatADebuggerTraces) {
  AttachedProgram program;
  std::string error;
  const Child debugger([&] { ::ptrace(PTRACE_SEIZE, program.pid(), nullptr, nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(EnableError(program.pid()),
              HasSubstr("a debugger (PID " + std::to_string(debugger.pid()) + ") traces PID " +
                        std::to_string(program.pid()) + " already"));
}

TEST(AttachRefusalTest, AProcessThatAllowsItselfFewSystemCalls) {
  AttachedProgram program;
  ASSERT_EQ(program.Ask("strict"), "ok");
  EXPECT_THAT(program.Enable(), HasSubstr("confines itself to a few system calls (seccomp)"));
}

TEST(AttachRefusalTest, AProcessThatLeakgateTraces) {
  AttachedProgram program;
  ASSERT_EQ(program.Enable(), "");
  std::string error;
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const Child other([&] {
    const std::string said = EnableError(program.pid()) + "\n";
    (void)!::write(pipe[1], said.data(), said.size());
  });
  char said[512] = {};
  ASSERT_GT(::read(pipe[0], said, sizeof(said) - 1), 0);
  EXPECT_THAT(std::string(said),
              HasSubstr("is traced already, by leakgate with PID " + std::to_string(::getpid())));
  EXPECT_EQ(program.Ask("malloc 3 101"), "ok");
  EXPECT_EQ(program.BlocksOf(101), 3U);
}

TEST(AttachRefusalTest, AStaticProgram) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_static")});
  EXPECT_THAT(program.Enable(), HasSubstr("statically linked"));
}

TEST(AttachRefusalTest, AProgramWithAMallocOfItsOwn) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_own_malloc")});
  EXPECT_THAT(program.Enable(), HasSubstr("defines malloc in its own executable"));
}

TEST(AttachRefusalTest, ASanitizedProgram) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_sanitized")});
  EXPECT_THAT(program.Enable(), HasSubstr("AddressSanitizer"));
}

TEST(AttachRefusalTest, AnAgentThatIsNotThere) {
  AttachedProgram program;
  const auto enabled =
      EnableRunning({.pid = program.pid(), .control = "none", .agent = "/nowhere/agent.so"});
  ASSERT_FALSE(enabled);
  EXPECT_THAT(enabled.error().message, HasSubstr("the agent is missing"));
}

TEST(AttachRefusalTest, AnAgentThatIsNone) {
  AttachedProgram program;
  const auto enabled =
      EnableRunning({.pid = program.pid(), .control = "none", .agent = "/etc/passwd"});
  ASSERT_FALSE(enabled);
  EXPECT_THAT(enabled.error().message, HasSubstr("cannot load /etc/passwd; make it readable"));
  EXPECT_EQ(program.Enable(), "");
}

TEST(AttachRefusalTest, AProcessWithoutRoomForDescriptors) {
  AttachedProgram program;
  const auto set_limit = [&](rlim_t most) {
    const rlimit limit{most, 1024};
    ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  };
  for (const rlim_t most : {rlim_t{3}, rlim_t{4}}) {
    set_limit(most);
    EXPECT_THAT(program.Enable(),
                AllOf(HasSubstr(" file descriptors of the " + std::to_string(most) + " that"),
                      HasSubstr("raise its limit (prlimit --pid ")));
  }
  set_limit(64);
  EXPECT_EQ(program.Enable(), "");
}

// It has begun to trace nothing, and may be enabled when there is somebody to ask.
TEST(AttachRefusalTest, ARunnerThatDoesNotAnswer) {
  AttachedProgram program;
  EXPECT_THAT(EnableError(program.pid()), HasSubstr("had no answer from leakgate"));
  EXPECT_EQ(program.Enable(), "");
}

// A user may trace his own processes only.
TEST(AttachRefusalTest, AnotherUsersProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  AttachedProgram program;
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const Child other([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return;
    const std::string said = EnableError(program.pid()) + "\n";
    (void)!::write(pipe[1], said.data(), said.size());
  });
  char said[512] = {};
  ASSERT_GT(::read(pipe[0], said, sizeof(said) - 1), 0);
  EXPECT_THAT(std::string(said), AllOf(HasSubstr("the kernel does not let PID"),
                                       HasSubstr("as the process's user or as root")));
}

TEST(AttachRefusalTest, NoSafePoint) {
  AttachedProgram program;
  program.Send("in_loader");
  ASSERT_EQ(program.Read(), "waiting");
  EXPECT_THAT(program.Enable(), AllOf(HasSubstr("no safe point in PID"),
                                      HasSubstr("dl_iterate_phdr"), HasSubstr("try again")));
}

// What a stopped thread holds is not given back, whichever thread is called on.
TEST(AttachRefusalTest, AStoppedProcessWithAThreadInTheLoader) {
  AttachedProgram program;
  (void)program.Ask("thread_in_loader");
  ::kill(program.pid(), SIGSTOP);
  while (!IsStoppedBySignal(program.pid())) std::this_thread::yield();
  const std::string pid = std::to_string(program.pid());
  EXPECT_EQ(program.Enable(), "PID " + pid +
                                  " is stopped in dl_iterate_phdr, where nothing can be called; "
                                  "let it go on (kill -CONT " +
                                  pid + "), then try again");
  EXPECT_TRUE(IsStoppedBySignal(program.pid()));
}

// The parent's memory is not to be changed for its child's sake.
TEST(AttachRefusalTest, AVforkChild) {
  AttachedProgram program;
  program.Send("vfork");
  const std::string child = program.Read();
  EXPECT_THAT(EnableError(std::stoi(child)), HasSubstr("has been started by vfork"));
}

}  // namespace
}  // namespace leakgate::test
