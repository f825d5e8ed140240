// What the runner asks to be told besides ends of windows: when, and that nobody waits
// for it unless it asks.
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/stream/stream_boundaries.h"
#include "plugin/agent/windows/windows.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers as the runner would, and keeps what it was asked.
class Answerer {
 public:
  explicit Answerer(std::uint32_t asks) : thread_([this] { Serve(); }) {
    agent::g_region.header().asks = asks;
  }
  ~Answerer() {
    agent::g_region.header().asks = 0;
    is_done_ = true;
    thread_.join();
  }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  // "begins 17 iteration 1". Only while nobody asks.
  const std::vector<std::string>& asked() const { return asked_; }
  int last_tid() const { return last_tid_; }

 private:
  void Serve() {
    Mailbox& mailbox = agent::g_region.mailbox();
    for (std::uint32_t answered = mailbox.reply; !is_done_; std::this_thread::yield()) {
      const std::uint32_t request = mailbox.request.load(std::memory_order_acquire);
      if (request == answered) continue;
      constexpr const char* kWords[] = {"judge ", "begins ", "iteration ends in "};
      asked_.push_back(kWords[mailbox.question % 3] + std::to_string(mailbox.window) +
                       " iteration " + std::to_string(mailbox.iteration));
      last_tid_ = mailbox.tid;
      mailbox.over_budget = 0;
      mailbox.reply.store(request, std::memory_order_release);
      agent::RawSyscall(SYS_futex, agent::Word(&mailbox.reply), 1, 1);  // FUTEX_WAKE
      answered = request;
    }
  }

  std::atomic<bool> is_done_{false};
  std::vector<std::string> asked_;
  int last_tid_ = 0;
  std::thread thread_;
};

class QuestionsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    TracedRegion();
    static const bool is_started = agent::StartThreads() && agent::SwitchOn();
    ASSERT_TRUE(is_started);
  }

  // Writes an event as GoogleTest does, from a recorded block. Of the event itself there is none,
  // as where it cannot be found: so the window is settled later.
  __attribute__((noinline)) static void WriteEvent(std::string_view event) {
    alignas(16) static char block[256];
    block[event.copy(block, sizeof(block) - 1)] = '\0';
    agent::RecordAllocation(block, event.size() + 1, AllocationKind::kMalloc,
                            LEAKGATE_CALLER_FRAME());
    agent::OnStreamWrite({block, event.size()});
  }

  static std::uint32_t Current() { return agent::g_region.header().current_window; }
  static std::uint32_t Open(WindowKind kind) {
    const std::uint32_t window =
        agent::OpenWindow({.kind = kind, .name = "Some.Test", .file = {}, .iteration = 3});
    agent::AnnounceWindow(window);
    return window;
  }
  static void LeaveWindow(std::uint32_t window) {
    agent::SetCurrentWindow(TracedRegion().reader().Window(window).parent);
  }
  static void EndIteration(std::uint32_t iteration) {
    ASSERT_TRUE(agent::CanRecord());
    const agent::RecordingGuard guard;
    agent::EndIteration(guard, iteration);
  }
  // As GoogleTest would on its own thread, between two events.
  __attribute__((noinline)) static void AllocateAndFree() {
    void* const block = reinterpret_cast<void*>(0x7800'0000);
    agent::RecordAllocation(block, 24, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
    agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }
};

TEST_F(QuestionsTest, AreNotAskedUnasked) {
  const Answerer answerer(0);
  LeaveWindow(Open(WindowKind::kTest));
  EndIteration(1);
  EXPECT_THAT(answerer.asked(), IsEmpty());
}

TEST_F(QuestionsTest, TellThatATestBeginsButNoSuite) {
  const Answerer answerer(kAskAtTestBegin);
  const std::uint32_t suite = Open(WindowKind::kSuite);
  EXPECT_THAT(answerer.asked(), IsEmpty());
  const std::uint32_t test = Open(WindowKind::kTest);
  EXPECT_THAT(answerer.asked(), ElementsAre("begins " + std::to_string(test) + " iteration 3"));
  EXPECT_EQ(answerer.last_tid(), agent::CurrentTid());
  LeaveWindow(test);
  LeaveWindow(suite);
}

TEST_F(QuestionsTest, TellThatAnIterationHasEnded) {
  const Answerer answerer(kAskAtIterationEnd);
  EndIteration(2);
  EXPECT_THAT(answerer.asked(),
              ElementsAre("iteration ends in " + std::to_string(Current()) + " iteration 2"));
}

TEST_F(QuestionsTest, WaitInTheStreamUntilTheTellersOwnStringsAreGone) {
  const Answerer answerer(kAskAtTestBegin | kAskAtIterationEnd);
  const std::uint32_t outer = Current();
  WriteEvent("event=TestIterationStart&iteration=4\n");
  WriteEvent("event=TestCaseStart&name=Suite\n");
  AllocateAndFree();
  WriteEvent("event=TestStart&name=Test\n");
  const std::uint32_t test = Current();
  EXPECT_THAT(answerer.asked(), IsEmpty());
  AllocateAndFree();
  const std::string begins = "begins " + std::to_string(test) + " iteration 5";
  EXPECT_THAT(answerer.asked(), ElementsAre(begins));

  WriteEvent("event=TestEnd&passed=1&elapsed_time=0ms\n");
  WriteEvent("event=TestCaseEnd&passed=1&elapsed_time=0ms\n");
  WriteEvent("event=TestIterationEnd&passed=1&elapsed_time=0ms\n");
  EXPECT_THAT(answerer.asked(), ElementsAre(begins));
  AllocateAndFree();
  EXPECT_THAT(answerer.asked(),
              ElementsAre(begins, "iteration ends in " + std::to_string(outer) + " iteration 5"));
}

TEST_F(QuestionsTest, AreAskedBeforeTheProgramEndsAtTheLatest) {
  const Answerer answerer(kAskAtIterationEnd);
  WriteEvent("event=TestIterationEnd&passed=1&elapsed_time=0ms\n");
  EXPECT_THAT(answerer.asked(), IsEmpty());
  agent::SettleBeforeEnd();
  EXPECT_EQ(answerer.asked().size(), 1U);
  agent::SettleBeforeEnd();
  EXPECT_EQ(answerer.asked().size(), 1U);
}

}  // namespace
}  // namespace leakgate::test
