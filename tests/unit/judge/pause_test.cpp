#include "runner/judge/pause.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

// `net` in blocks of 100 B.
FreedInTime Judged(const Net& net) {
  Net bytes;
  for (const std::int64_t blocks : net) bytes.push_back(100 * blocks);
  return JudgePauses({net, bytes});
}

TEST(PauseTest, FreesNothingOfALeak) { EXPECT_EQ(Judged({1000, 0, 60}), FreedInTime::kNot); }

TEST(PauseTest, HasAnotherCycleWhereSomethingIsFreed) {
  EXPECT_EQ(Judged({1000, -1000, 60}), FreedInTime::kPartly);
}

TEST(PauseTest, FreesWhatAThreadOrTheNextCallFrees) {
  EXPECT_EQ(Judged({1000, -1000, 60, 1370, -1430, 60}), FreedInTime::kMostly);
  EXPECT_EQ(Judged({1000, 0, -940, 1370, 0, -1370}), FreedInTime::kMostly);
}

TEST(PauseTest, LeavesWhatGrowsBesideIt) {
  EXPECT_EQ(Judged({2000, -1000, 120, 2740, -1430, 120}), FreedInTime::kNot);
  EXPECT_EQ(Judged({1100, -1000, 66, 1507, -1430, 66}), FreedInTime::kPartly);
}

TEST(PauseTest, TellsNothingOfWhatDidNotGrow) {
  EXPECT_EQ(Judged({0, 0, 0}), FreedInTime::kUnseen);
  EXPECT_EQ(LessOf(FreedInTime::kUnseen, FreedInTime::kMostly), FreedInTime::kMostly);
  EXPECT_EQ(LessOf(FreedInTime::kNot, FreedInTime::kMostly), FreedInTime::kNot);
}

TEST(PauseTest, TellsWhatStaysByThreeCyclesThatAreAlike) {
  EXPECT_TRUE(Stays({{100, 0, 6, 137, 0, 6, 173, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{100, 0, 6, 137, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{100, 0, 6, 137, 0, 6, 17, 0, 6}, {}}));
  EXPECT_FALSE(Stays({{100, -10, 6, 137, 0, 6, 173, 0, 6}, {}}));
}

}  // namespace
}  // namespace leakgate
