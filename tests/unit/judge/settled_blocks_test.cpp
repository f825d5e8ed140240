// How long other threads' blocks are waited for: by how often they are read, since times would tell
// more of the machine than of the rule.
#include "runner/judge/settled_blocks.h"

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/agent/traced_region.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kAddress = 0x3'0000'0000;
constexpr int kMostReads = 11;  // a tenth of a second, with pauses that double

class SettledBlocksTest : public test::RecordingTest {
 protected:
  void SetUp() override {
    sem_init(&holds_, 0, 0);
    sem_init(&goes_on_, 0, 0);
  }

  // Runs `work` on a thread that holds one block of `window_`, and reads until it is settled.
  // Returns how many blocks were left.
  template <typename Work>
  std::size_t ReadBeside(const Work& work) {
    window_ = OpenWindow();
    std::thread thread([&] {
      Allocate(kAddress, 100);
      sem_post(&holds_);
      work();
      Free();
    });
    sem_wait(&holds_);
    const auto blocks = ReadSettledBlocks(Reader(), agent::CurrentTid(), [&] {
      ++reads_;
      return Reader().LiveBlocks(window_);
    });
    is_over_ = true;
    sem_post(&goes_on_);
    thread.join();
    LeaveWindow(window_);
    return blocks->size();
  }

  static void Free() { agent::RecordFree(At(kAddress), {FreeKind::kFree, {}}); }

  std::uint32_t window_ = 0;
  int reads_ = 0;
  sem_t holds_{};
  sem_t goes_on_{};
  std::atomic<bool> is_over_{false};
};

TEST_F(SettledBlocksTest, WaitsForAThreadThatSleepsAndThenFrees) {
  EXPECT_EQ(ReadBeside([] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }), 0U);
}

TEST_F(SettledBlocksTest, StopsOnceAThreadHasSleptAndFreesNothing) {
  EXPECT_EQ(ReadBeside([&] {
              while (!is_over_) std::this_thread::sleep_for(std::chrono::microseconds(100));
            }),
            1U);
  EXPECT_LT(reads_, kMostReads);
}

TEST_F(SettledBlocksTest, StopsAtAThreadThatWaitsToBeWoken) {
  EXPECT_EQ(ReadBeside([&] { sem_wait(&goes_on_); }), 1U);
  EXPECT_LT(reads_, kMostReads);
}

TEST_F(SettledBlocksTest, DoesNotWaitForTheAskingThread) {
  window_ = OpenWindow();
  Allocate(kAddress, 100);
  const auto blocks = ReadSettledBlocks(Reader(), agent::CurrentTid(), [&] {
    ++reads_;
    return Reader().LiveBlocks(window_);
  });
  Free();
  LeaveWindow(window_);
  EXPECT_EQ(blocks->size(), 1U);
  EXPECT_EQ(reads_, 1);
}

}  // namespace
}  // namespace leakgate
