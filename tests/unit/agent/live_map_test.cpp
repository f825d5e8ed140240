// The live map, read by the runner while blocks come and go.
// tests/unit/memory_model/live_slot_test.cpp shows why that holds on each processor.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "plugin/agent/record/recorder.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

class LiveMapTest : public RecordingTest {
 protected:
  static constexpr std::uint64_t kFirst = 0xA500'0000;
  static constexpr std::uint64_t kBlocks = 64;

  __attribute__((noinline)) static void Change(std::uint64_t round) {
    void* const block = At(kFirst + round % kBlocks * 2048);
    if (!agent::RecordFreeHere(block, FreeKind::kFree)) {
      agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
    }
    const AllocationKind kind = KindIn(round / kBlocks);
    agent::RecordAllocation(block, SizeOf(kind), kind, LEAKGATE_CALLER_FRAME());
  }

  static std::uint64_t SizeOf(AllocationKind kind) {
    if (kind == AllocationKind::kMalloc) return 100;
    return kind == AllocationKind::kCalloc ? 1000 : 2000;
  }

 private:
  static AllocationKind KindIn(std::uint64_t lap) {
    if (lap % 3 == 0) return AllocationKind::kMalloc;
    return lap % 3 == 1 ? AllocationKind::kCalloc : AllocationKind::kRealloc;
  }
};

TEST_F(LiveMapTest, IsNeverReadAsAMixtureOfTwoBlocks) {
  const std::uint32_t window = OpenWindow();
  std::atomic<std::uint64_t> rounds{0};
  std::atomic<bool> is_done{false};
  std::thread busy([&] {
    while (!is_done) Change(rounds++);
  });
  while (rounds < kBlocks) std::this_thread::yield();
  int mixed = 0;
  std::uint64_t seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<LiveBlock> blocks = Reader().LiveBlocks(window).value();
    for (const LiveBlock& block : blocks) {
      ++seen;
      if (block.size_bytes != SizeOf(block.kind)) ++mixed;
    }
  }
  is_done = true;
  busy.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_GT(seen, 0U);
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    agent::RecordFree(At(kFirst + i * 2048), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }
  LeaveWindow(window);
}

}  // namespace
}  // namespace leakgate::test
