// A signal that comes while a thread is held in a system call is taken when the thread goes on, and
// does to the call what it would have done.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shared_mutex>
#include <thread>

#include "runner/attach/linux/thread_stops.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/reach/linux/frozen_process.h"
#include "tests/attach/attached_program.h"

namespace leakgate::test {
namespace {

using testing::StartsWith;

class HeldCallTest : public testing::TestWithParam<const char*> {
 protected:
  // Without a signal the calls come to their end after so many milliseconds.
  explicit HeldCallTest(const char* patience = "20000") : program_(Carries::kAgentThatStaysOff) {
    EXPECT_EQ(program_.Ask("handle_signal"), "ok");
    EXPECT_EQ(program_.Ask(std::string("patience ") + patience), "ok");
    program_.Send(std::string("wait ") + GetParam());
    EXPECT_EQ(program_.Read(), "waiting");
    for (;;) {
      const auto waiting = ReadWaiting(program_.pid(), program_.pid());
      if (waiting && waiting->call >= 0) break;
      std::this_thread::yield();
    }
  }

  // To the thread that waits.
  void Send(int signal) const { ::syscall(SYS_tgkill, program_.pid(), program_.pid(), signal); }
  void HoldAndSend(int signal) {
    const std::shared_lock lock(WaitLock());
    auto thread = HeldThread::Take(program_.pid(), program_.pid());
    ASSERT_TRUE(thread && *thread);
    ASSERT_TRUE((*thread)->AwaitStop(std::chrono::seconds(20)));
    Send(signal);
    Continue(**thread);
  }
  void FreezeAndSend(int signal) {
    auto frozen = FrozenProcess::Freeze(program_.pid());
    ASSERT_TRUE(frozen);
    Send(signal);
    frozen->Thaw();
  }
  void ExpectInterrupted() {
    EXPECT_THAT(program_.Read(), StartsWith("error Interrupted system call after "));
  }
  void ExpectAsIfNothingHadBeen() { EXPECT_THAT(program_.Read(), StartsWith("1 after ")); }

  AttachedProgram program_;
};

TEST_P(HeldCallTest, IsInterruptedByASignalThatCameWhileItsThreadWasHeld) {
  HoldAndSend(SIGUSR1);
  ExpectInterrupted();
}

TEST_P(HeldCallTest, IsInterruptedByASignalThatCameWhileTheProcessWasFrozen) {
  FreezeAndSend(SIGUSR1);
  ExpectInterrupted();
}

TEST_P(HeldCallTest, IsInterruptedByASignalThatCameWhileItsThreadMadeCalls) {
  program_.WhenItAsks([this] { Send(SIGUSR1); });
  EXPECT_EQ(program_.Enable(), "");
  ExpectInterrupted();
}

INSTANTIATE_TEST_SUITE_P(, HeldCallTest,
                         testing::Values("read", "poll", "select", "epoll_wait", "accept", "msgrcv",
                                         "sigtimedwait"),
                         [](const auto& given) { return std::string(given.param); });

class HeldPipeTest : public HeldCallTest {
 protected:
  HeldPipeTest() : HeldCallTest("500") {}
};

TEST_P(HeldPipeTest, GoesOnWhereASignalThatIsIgnoredCameMeanwhile) {
  HoldAndSend(SIGWINCH);
  FreezeAndSend(SIGWINCH);
  ExpectAsIfNothingHadBeen();
}

TEST_P(HeldPipeTest, GoesOnWhereItsThreadIsHeldManyTimes) {
  for (int i = 0; i < 20; ++i) {
    HoldAndSend(0);
    FreezeAndSend(0);
  }
  ExpectAsIfNothingHadBeen();
}

INSTANTIATE_TEST_SUITE_P(, HeldPipeTest, testing::Values("read", "poll", "select", "epoll_wait"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace leakgate::test
