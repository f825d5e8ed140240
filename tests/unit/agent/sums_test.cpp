// Sums of counters while other threads count. tests/unit/memory_model/sums_test.cpp shows why they
// hold on each processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/counters.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

class RecordingThreadsTest : public RecordingTest {
 protected:
  // As the interposed functions do.
  __attribute__((noinline)) static void Free(std::uint64_t address) {
    if (agent::RecordFreeHere(At(address), FreeKind::kFree) ||
        agent::RecordFreeInWindow(At(address), FreeKind::kFree)) {
      return;
    }
    agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }
};

// Does `work` again and again, on a thread of its own, while this lives.
class Busy {
 public:
  template <typename Work>
  explicit Busy(Work work)
      : thread_([this, work] {
          for (std::uint64_t round = 0; !is_done_; ++round) {
            work(round);
            has_begun_ = true;
          }
        }) {
    while (!has_begun_) std::this_thread::yield();
  }
  ~Busy() {
    is_done_ = true;
    thread_.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

// Threads that have counters and do nothing, so that reading all counters takes longer than what
// the others do.
class Bystanders {
 public:
  Bystanders() {
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, i] {
        RecordOne(0xA400'0000 + i * 64);
        ++begun_;
        is_done_.wait(false);
      });
    }
    while (begun_ != kThreads) std::this_thread::yield();
  }
  ~Bystanders() {
    is_done_ = true;
    is_done_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Bystanders(const Bystanders&) = delete;
  Bystanders& operator=(const Bystanders&) = delete;

 private:
  static constexpr std::uint64_t kThreads = 200;

  static void RecordOne(std::uint64_t address) {
    void* const block = reinterpret_cast<void*>(address);
    agent::RecordAllocation(block, 1, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
    agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }

  std::atomic<std::uint64_t> begun_{0};
  std::atomic<bool> is_done_{false};
  std::vector<std::thread> threads_;
};

// Two threads, on both sides of the bystanders: one frees what the other has allocated, and then
// the other way round, since either may come first where counters are read.
class SumsTest : public RecordingThreadsTest {
 protected:
  static constexpr std::uint64_t kLiving = 0xA000'0000;
  static constexpr int kSums = 10'000;

  template <typename Look>
  void LookAtSums(std::uint64_t block_bytes, Look look) {
    std::atomic<bool> is_turned{false};
    const auto work = [&](std::uint64_t round, bool is_first) {
      if (is_first != is_turned) {
        Pass(0xA100'0000 + round % 1000 * 64, block_bytes);
      } else {
        FreeWhatCame();
      }
    };
    const Busy one([&](std::uint64_t round) { work(round, true); });
    const Bystanders bystanders;
    const Busy other([&](std::uint64_t round) { work(round, false); });
    for (int i = 0; i < kSums; ++i) look();
    is_turned = true;
    for (int i = 0; i < kSums; ++i) look();
  }
  void TearDown() override { FreeWhatCame(); }

 private:
  void Pass(std::uint64_t address, std::uint64_t bytes) {
    std::uint64_t nothing = kNothing;
    if (!passed_.compare_exchange_strong(nothing, kInHand)) return;
    Allocate(address, bytes);
    passed_.store(address, std::memory_order_release);
  }
  void FreeWhatCame() {
    std::uint64_t given = passed_;
    if (given == kNothing || given == kInHand) return;
    if (!passed_.compare_exchange_strong(given, kInHand)) return;
    Free(given);
    passed_.store(kNothing, std::memory_order_release);
  }

  static constexpr std::uint64_t kNothing = 0;
  static constexpr std::uint64_t kInHand = 1;  // a thread is at it

  std::atomic<std::uint64_t> passed_{kNothing};  // else the address of a block
};

TEST_F(SumsTest, MissNoBlockThatLivesOnWhileThreadsFreeEachOthers) {
  const std::uint32_t window = OpenWindow();
  Allocate(kLiving, 10);
  int missed = 0;
  LookAtSums(5, [&] {
    const agent::WindowSum sum = agent::SumWindow(window);
    if (sum.is_exact && sum.blocks < 1) ++missed;
  });
  EXPECT_EQ(missed, 0);
  Free(kLiving);
  LeaveWindow(window);
}

TEST_F(SumsTest, TellNoMoreLiveBytesThanThereEverWere) {
  constexpr std::uint64_t kBlockBytes = 1ULL << 40;
  const std::uint64_t before = agent::LiveBytes(agent::SumTotals());
  std::uint64_t highest = 0;
  LookAtSums(kBlockBytes,
             [&] { highest = std::max(highest, agent::LiveBytes(agent::SumTotals())); });
  EXPECT_LE(highest, before + kBlockBytes + 200);
}

}  // namespace
}  // namespace leakgate::test
