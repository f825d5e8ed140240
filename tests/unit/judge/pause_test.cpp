#include "runner/judge/pause.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/net_series.h"

namespace leakgate {
namespace {

// `net` in blocks of 100 B.
FreedInTime Judged(const Net& net) {
  Net bytes;
  for (const std::int64_t blocks : net) bytes.push_back(100 * blocks);
  return JudgePauses({net, bytes});
}

TEST(PauseTest, FreesNothingOfALeak) { EXPECT_EQ(Judged({60, 940, 0, 60}), FreedInTime::kNot); }

TEST(PauseTest, HasAnotherCycleWhereSomethingIsFreed) {
  EXPECT_EQ(Judged({60, 940, -1000, 60}), FreedInTime::kPartly);
}

TEST(PauseTest, FreesWhatAThreadOrTheNextCallFrees) {
  EXPECT_EQ(Judged({60, 940, -1000, 60, 60, 1310, -1430, 60}), FreedInTime::kMostly);
  EXPECT_EQ(Judged({60, 940, 0, -940, 60, 1310, 0, -1370}), FreedInTime::kMostly);
}

TEST(PauseTest, LeavesWhatGrowsBesideIt) {
  EXPECT_EQ(Judged({120, 1880, -1000, 120, 120, 2620, -1430, 120}), FreedInTime::kNot);
  EXPECT_EQ(Judged({66, 1034, -1000, 66, 66, 1441, -1430, 66}), FreedInTime::kPartly);
}

// There, sixty repetitions take as long as an entry stays.
TEST(PauseTest, SeesOnASlowMachineThatNoMoreAreHeldThanBefore) {
  EXPECT_EQ(Judged({50, 2, -52, 50}), FreedInTime::kMostly);
  EXPECT_EQ(Judged({50, 2, 0, -2}), FreedInTime::kMostly);
  EXPECT_EQ(Judged({112, 940, -50, 112}), FreedInTime::kNot);
}

// `expected` blocks in 1000 repetitions.
FreedInTime JudgedBeside(const Net& net, std::int64_t expected) {
  Net bytes;
  for (const std::int64_t blocks : net) bytes.push_back(100 * blocks);
  return JudgePauses({net, bytes}, {100 * expected, expected});
}

// A ring of 200 is full after sixty repetitions, and one of twelve loses a block.
TEST(PauseTest, LeavesALeakBesideSomethingBoundedThatIsLarger) {
  EXPECT_EQ(JudgedBeside({205, 78, 0, 5}, 83), FreedInTime::kPartly);
  EXPECT_EQ(JudgedBeside({205, 78, 0, 5, 5, 109, 0, 5}, 83), FreedInTime::kNot);
  EXPECT_EQ(JudgedBeside({205, 85, -9, 7, 12, 97, -4, 3}, 83), FreedInTime::kNot);
}

// The machine was faster in the long series.
TEST(PauseTest, FreesWhatTheLongSeriesHadNoTimeFor) {
  EXPECT_EQ(JudgedBeside({50, 2, 0, -2}, 1000), FreedInTime::kMostly);
  EXPECT_EQ(JudgedBeside({50, 180, -230, 60, 50, -20, -70, 40}, 1000), FreedInTime::kMostly);
}

// What never falls was once all that told of a leak: there, it is as if the table had grown.
TEST(PauseTest, LeavesALeakBesideATableOfItsSize) {
  EXPECT_EQ(JudgedBeside({860, 940, 0, 60, 60, 1310, 0, 60}, 1000), FreedInTime::kNot);
}

// A thread empties a queue, which keeps its room, and did so within the long series, too.
TEST(PauseTest, DoesNotMindARateThatIsTooLow) {
  EXPECT_EQ(JudgedBeside({120, 1900, -1000, 60, 60, 2330, -1430, 60, 60, 1670, -1790, 60}, 460),
            FreedInTime::kMostly);
}

// Likewise, of the room alone.
TEST(PauseTest, TakesRoomThatDoublesOnceMoreForBounded) {
  EXPECT_EQ(JudgedBeside({64, 960, 0, 0, 0, 1024, 0, 0, 0, 0, 0, 0}, 1347), FreedInTime::kMostly);
}

TEST(PauseTest, ExpectsWhatTheLaterHalfOfALongSeriesAdds) {
  EXPECT_EQ(GrowthIn({.blocks = {100, 100, 10, 10}, .bytes = {5, 5, 20, 20}, .stride = 10}, 1000),
            (Amount{2000, 1000}));
  EXPECT_EQ(GrowthIn({}, 1000), Amount{});
}

// Its room is for twice as much, so that there is a cycle in which it does not grow.
TEST(PauseTest, FreesNothingOfABlockThatDoubles) {
  EXPECT_EQ(Judged({32, 480, 0, 0, 0, 512, 0, 0}), FreedInTime::kPartly);
  EXPECT_EQ(Judged({32, 480, 0, 0, 0, 512, 0, 0, 0, 1024, 0, 0}), FreedInTime::kNot);
  EXPECT_EQ(Judged({16, 240, 0, 0, 0, 768, 0, 0, 0, 0, 0, 0}), FreedInTime::kNot);
  EXPECT_EQ(Judged({16, 240, 0, -2, 1, 768, -2, 1, 1, 0, 2, -3}), FreedInTime::kNot);
}

TEST(PauseTest, TakesABlockThatIsKeptAtItsLargestForBounded) {
  EXPECT_EQ(Judged({32, 480, 0, 0, 0, 0, 0, 0}), FreedInTime::kMostly);
  EXPECT_EQ(Judged({32, 480, 0, 0, 0, 512, 0, 0, 0, 0, 0, 0}), FreedInTime::kMostly);
}

TEST(PauseTest, TellsNothingOfWhatDidNotGrow) {
  EXPECT_EQ(Judged({0, 0, 0, 0}), FreedInTime::kUnseen);
  EXPECT_EQ(LessOf(FreedInTime::kUnseen, FreedInTime::kMostly), FreedInTime::kMostly);
  EXPECT_EQ(LessOf(FreedInTime::kNot, FreedInTime::kMostly), FreedInTime::kNot);
}

TEST(PauseTest, TellsWhatStaysByThreeCyclesThatAreAlike) {
  EXPECT_TRUE(Stays({{6, 94, 0, 6, 6, 131, 0, 6, 6, 167, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{6, 94, 0, 6, 6, 131, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{6, 94, 0, 6, 6, 131, 0, 6, 6, 11, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{6, 94, -10, 6, 6, 131, 0, 6, 6, 167, 0, 6}, {}}));
}

}  // namespace
}  // namespace leakgate
