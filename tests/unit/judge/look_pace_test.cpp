#include "runner/judge/look_pace.h"

#include <gtest/gtest.h>

namespace leakgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const LookPace::Clock::time_point kBegin{seconds(1000)};

Totals LiveBlocks(std::uint64_t blocks, std::uint64_t bytes_each = 16) {
  return {.allocated_bytes = blocks * bytes_each + 160,
          .allocated_blocks = blocks + 10,
          .freed_bytes = 160,
          .freed_blocks = 10,
          .temporary_bytes = 0,
          .temporary_blocks = 0};
}

// Looks that take 100 ms each, one behind the other.
LookPace AfterLooks(int count) {
  LookPace pace;
  for (int i = 0; i < count; ++i) {
    pace.NoteLook(kBegin + i * milliseconds(100), kBegin + (i + 1) * milliseconds(100));
  }
  return pace;
}

TEST(LookPaceTest, LooksAtEachTestBesideASmallHeapHoweverLongThatTakes) {
  EXPECT_TRUE(AfterLooks(1000).MayLook(LiveBlocks(199'999), kBegin + seconds(100)));
}

TEST(LookPaceTest, LooksForHalfASecondBesideManyBlocks) {
  EXPECT_TRUE(AfterLooks(0).MayLook(LiveBlocks(1'000'000), kBegin));
  EXPECT_TRUE(AfterLooks(4).MayLook(LiveBlocks(1'000'000), kBegin + milliseconds(400)));
  EXPECT_FALSE(AfterLooks(6).MayLook(LiveBlocks(1'000'000), kBegin + milliseconds(600)));
}

TEST(LookPaceTest, TakesFewLargeBlocksForALargeHeap) {
  EXPECT_FALSE(AfterLooks(6).MayLook(LiveBlocks(10, 32U << 20), kBegin + milliseconds(600)));
}

TEST(LookPaceTest, LooksAgainOnceTheProgramHasRunForTenTimesAsLong) {
  const LookPace pace = AfterLooks(10);

  EXPECT_FALSE(pace.MayLook(LiveBlocks(1'000'000), kBegin + seconds(5)));
  EXPECT_TRUE(pace.MayLook(LiveBlocks(1'000'000), kBegin + seconds(6)));
}

}  // namespace
}  // namespace leakgate::test
