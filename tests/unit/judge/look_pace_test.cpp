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

// Looks beside `totals` that take `each`, one behind the other.
LookPace AfterLooks(int count, const Totals& totals, milliseconds each = milliseconds(100),
                    LookPace pace = {}) {
  for (int i = 0; i < count; ++i) {
    pace.NoteLook(totals, kBegin + i * each, kBegin + (i + 1) * each);
  }
  return pace;
}

LookPace ForReport() {
  LookPace pace;
  pace.SetForReport(true);
  return pace;
}

TEST(LookPaceTest, LooksAtHundredsOfTestsBesideASmallHeapHoweverLongThatTakes) {
  const Totals small = LiveBlocks(5'000);
  for (const int looks : {1, 10, 100, 255}) {
    const LookPace pace = AfterLooks(looks, small);
    EXPECT_TRUE(pace.MayLook(small, kBegin + looks * milliseconds(100))) << looks;
  }
  EXPECT_FALSE(AfterLooks(300, small).MayLook(small, kBegin + 300 * milliseconds(100)));
}

TEST(LookPaceTest, LooksAtDozensOfTestsWhereNobodyWaitsForTheVerdict) {
  const Totals small = LiveBlocks(5'000);
  for (const int looks : {1, 10, 31}) {
    const LookPace pace = AfterLooks(looks, small, milliseconds(100), ForReport());
    EXPECT_TRUE(pace.MayLook(small, kBegin + looks * milliseconds(100))) << looks;
  }
  EXPECT_FALSE(AfterLooks(50, small, milliseconds(100), ForReport())
                   .MayLook(small, kBegin + 50 * milliseconds(100)));
}

TEST(LookPaceTest, LooksAtEachTestThatTakesTenTimesAsLongAsALook) {
  const Totals small = LiveBlocks(5'000);
  LookPace pace = ForReport();
  auto now = kBegin;
  for (int i = 0; i < 10'000; ++i, now += milliseconds(10)) {
    ASSERT_TRUE(pace.MayLook(small, now)) << i;
    pace.NoteLook(small, now, now + milliseconds(1));
  }
}

TEST(LookPaceTest, LooksForAQuarterOfASecondBesideManyBlocks) {
  const Totals many = LiveBlocks(1'000'000);

  EXPECT_TRUE(LookPace().MayLook(many, kBegin));
  EXPECT_TRUE(AfterLooks(1, many).MayLook(many, kBegin + milliseconds(100)));
  EXPECT_FALSE(AfterLooks(3, many).MayLook(many, kBegin + milliseconds(300)));
}

TEST(LookPaceTest, TakesFewLargeBlocksForALargeHeap) {
  const Totals large = LiveBlocks(10, 32U << 20);

  EXPECT_FALSE(AfterLooks(3, large).MayLook(large, kBegin + milliseconds(300)));
}

TEST(LookPaceTest, DoesNotLookAtAllWhereTheFirstLookWouldTakeLonger) {
  EXPECT_FALSE(LookPace().MayLook(LiveBlocks(10'000'000), kBegin));
}

TEST(LookPaceTest, NeverLooksMoreOftenBesideMoreBlocks) {
  int last = 1'000'000;
  for (std::uint64_t blocks = 10'000; blocks <= 1'000'000; blocks += 10'000) {
    const Totals totals = LiveBlocks(blocks);
    LookPace pace;
    int looks = 0;
    const std::chrono::microseconds each(2'000 + blocks / 10);
    for (auto now = kBegin; looks < 1'000 && pace.MayLook(totals, now); ++looks) {
      pace.NoteLook(totals, now, now + each);
      now += each;
    }
    EXPECT_LE(looks, last) << blocks;
    last = looks;
  }
  EXPECT_LE(last, 4);
}

TEST(LookPaceTest, LooksAgainOnceTheProgramHasRunForTenTimesAsLong) {
  const Totals many = LiveBlocks(1'000'000);
  const LookPace pace = AfterLooks(5, many);

  EXPECT_FALSE(pace.MayLook(many, kBegin + seconds(2)));
  EXPECT_TRUE(pace.MayLook(many, kBegin + seconds(4)));
}

}  // namespace
}  // namespace leakgate::test
