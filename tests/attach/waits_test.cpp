// To be attached to costs a program nothing but time: what its threads wait in goes on as
// if nothing had been, and what they hold is as it was.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "runner/process/proc_files.h"
#include "tests/attach/attached_program.h"

namespace leakgate::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

struct Call {
  const char* name;
  const char* result;      // that the program sees of it
  int least_milliseconds;  // that it waits
  int most_milliseconds;
};

void PrintTo(const Call& call, std::ostream* to) { *to << call.name; }

class WaitTest : public testing::TestWithParam<Call> {};

// "RESULT after MILLISECONDS"
int MillisecondsIn(const std::string& answer) {
  const std::size_t at = answer.find(" after ");
  return at == std::string::npos ? -1 : std::stoi(answer.substr(at + 7));
}

void ExpectAsIfNothingHadBeen(AttachedProgram& program, const Call& call) {
  const std::string answer = program.Read();
  EXPECT_THAT(answer, StartsWith(std::string(call.result) + " after "));
  EXPECT_GE(MillisecondsIn(answer), call.least_milliseconds) << answer;
  EXPECT_LE(MillisecondsIn(answer), call.most_milliseconds) << answer;
  EXPECT_EQ(program.attachment().tid, program.pid());  // the thread that waits was the one
}

void EnableWhileWaiting(AttachedProgram& program, const Call& call) {
  program.Send(std::string("wait ") + call.name);
  ASSERT_EQ(program.Read(), "waiting");
  std::this_thread::sleep_for(milliseconds(100));
  ASSERT_EQ(program.Enable(), "");
}

TEST_P(WaitTest, GoesOnWhenTheAgentIsLoaded) {
  AttachedProgram program;
  EnableWhileWaiting(program, GetParam());
  ExpectAsIfNothingHadBeen(program, GetParam());
}

TEST_P(WaitTest, GoesOnWhenEnabledAndDisabled) {
  AttachedProgram program(Carries::kAgentThatStaysOff);
  EnableWhileWaiting(program, GetParam());
  EXPECT_EQ(program.Disable(), "");
  ExpectAsIfNothingHadBeen(program, GetParam());
}

// Those that end by themselves do so after 500 ms, or a second. A load of other work may
// delay that, so there is some room above.
constexpr int kLate = 2500;
constexpr Call kCalls[] = {{"nanosleep", "0", 500, kLate},
                           {"clock_nanosleep", "0", 500, kLate},
                           {"sleep", "0", 1000, kLate},
                           {"read", "1", 400, kLate},
                           {"poll", "1", 400, kLate},
                           {"poll_limit", "0", 500, kLate},
                           {"ppoll_limit", "0", 500, kLate},
                           {"select", "1", 400, kLate},
                           {"select_limit", "0", 500, kLate},
                           {"epoll_wait", "1", 400, kLate},
                           {"futex", "0", 400, kLate},
                           {"futex_limit", "0", 400, kLate},
                           {"accept", "0", 400, kLate},
                           {"sigtimedwait", "0", 400, kLate},
                           {"msgrcv", "8", 400, kLate},
                           {"cond", "0", 900, kLate},
                           {"compute", "0", 500, kLate},
                           // A limit that begins anew: as late as that once more.
                           {"epoll_wait_limit", "0", 500, kLate},
                           {"sigtimedwait_limit", "0", 500, kLate}};

INSTANTIATE_TEST_SUITE_P(, WaitTest, testing::ValuesIn(kCalls),
                         [](const auto& given) { return std::string(given.param.name); });

// Where its address space is full, the call for a stack sets it.
TEST(AttachedThreadTest, KeepsItsErrno) {
  AttachedProgram program;
  program.Send("errno");
  ASSERT_EQ(program.Read(), "waiting");
  std::this_thread::sleep_for(milliseconds(100));
  constexpr rlimit kFull{1U << 20, 1U << 20};
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_AS, &kFull, nullptr), 0);
  EXPECT_THAT(program.Enable(), HasSubstr("has no memory for a stack"));
  EXPECT_EQ(program.Read(), "kept");
}

// 'R', 'S', 'T', 't' ...
char StateOf(int pid) { return StatusField(pid, pid, "State").front(); }

TEST(AttachedProcessTest, StaysStoppedIfASignalHasStoppedIt) {
  AttachedProgram program;
  ::kill(program.pid(), SIGSTOP);
  while (StateOf(program.pid()) != 'T') std::this_thread::sleep_for(milliseconds(1));
  ASSERT_EQ(program.Enable(), "");
  // Let go by its tracer, it runs in the kernel for a moment before it is stopped again.
  while (StateOf(program.pid()) != 'T') std::this_thread::sleep_for(milliseconds(1));
  ::kill(program.pid(), SIGCONT);
  EXPECT_EQ(program.Ask("malloc 3 101"), "ok");
  EXPECT_EQ(program.BlocksOf(101), 3U);
}

TEST(AttachedProcessTest, KeepsIgnoringWhatItIgnores) {
  AttachedProgram program;
  ASSERT_EQ(program.Ask("ignore_segv"), "ok");
  ASSERT_EQ(program.Enable(), "");
  ASSERT_EQ(program.Disable(), "");
  EXPECT_EQ(program.Ask("segv_is_ignored"), "yes");
}

// One that comes meanwhile is neither lost nor taken in the wrong place: its handler, in
// a thread that allocates all the time, counts.
TEST(AttachedProcessTest, TakesEachSignalThatComesMeanwhile) {
  AttachedProgram program;
  ASSERT_EQ(program.Ask("count_signals"), "ok");
  int sent = 0;
  std::atomic<bool> is_over{false};
  std::thread sender([&] {
    for (; !is_over; ++sent) {
      ::sigqueue(program.pid(), SIGRTMIN, {});
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(program.Enable(), "");
    EXPECT_EQ(program.Disable(), "");
  }
  is_over = true;
  sender.join();
  EXPECT_EQ(program.Ask("signals"), std::to_string(sent));
}

}  // namespace
}  // namespace leakgate::test
