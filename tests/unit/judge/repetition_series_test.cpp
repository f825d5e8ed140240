#include "runner/judge/repetition_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(RepetitionSeriesTest, WithoutAnyRepetitionTellsNothing) {
  EXPECT_EQ(ClassifyGrowth({}), Growth::kIrregular);
  EXPECT_EQ(ClassifyLongGrowth({}), Growth::kIrregular);
}

TEST(RepetitionSeriesTest, IsNoGrowthWhereNothingIsAdded) {
  EXPECT_EQ(ClassifyGrowth({0, 0, 0, 0, 0}), Growth::kNone);
}

TEST(RepetitionSeriesTest, IsNoGrowthWhereItShrinks) {
  EXPECT_EQ(ClassifyGrowth({0, -1, 0, -3, 0}), Growth::kNone);
}

TEST(RepetitionSeriesTest, IsSteadyWhereEachRepetitionAdds) {
  EXPECT_EQ(ClassifyGrowth({1, 1, 1, 1, 1}), Growth::kSteady);
  EXPECT_EQ(ClassifyGrowth({1, 7, 2, 1, 3}), Growth::kSteady);
}

TEST(RepetitionSeriesTest, IsBoundedWhereItStopsForTwoRepetitions) {
  EXPECT_EQ(ClassifyGrowth({1, 1, 1, 0, 0}), Growth::kBounded);
  EXPECT_EQ(ClassifyGrowth({1, 0, 0, 0, 0}), Growth::kBounded);
}

TEST(RepetitionSeriesTest, IsIrregularWhereItHasOnlyJustStopped) {
  EXPECT_EQ(ClassifyGrowth({1, 1, 1, 1, 0}), Growth::kIrregular);
}

TEST(RepetitionSeriesTest, IsIrregularWhereItGrowsNowAndThen) {
  EXPECT_EQ(ClassifyGrowth({0, 1, 0, 1, 0}), Growth::kIrregular);
  EXPECT_EQ(ClassifyGrowth({1, 0, 1, 0, 0}), Growth::kIrregular);
}

TEST(RepetitionSeriesTest, IsIrregularWhereItGrowsInTheEndOnly) {
  EXPECT_EQ(ClassifyGrowth({0, 0, 0, 0, 1}), Growth::kIrregular);
}

TEST(LongRepetitionSeriesTest, IsSteadyWhereBothHalvesGrow) {
  EXPECT_EQ(ClassifyLongGrowth({0, 1, 0, 0, 1, 0}), Growth::kSteady);
}

TEST(LongRepetitionSeriesTest, IsBoundedWhereOneHalfGrows) {
  EXPECT_EQ(ClassifyLongGrowth({0, 1, 1, 0, 0, 0}), Growth::kBounded);
  EXPECT_EQ(ClassifyLongGrowth({0, 0, 0, 0, 1, 0}), Growth::kBounded);
}

TEST(LongRepetitionSeriesTest, IsNoGrowthWhereEachHalfGivesBackWhatItTook) {
  EXPECT_EQ(ClassifyLongGrowth({1, -1, 0, 0, 2, -2}), Growth::kNone);
}

}  // namespace
}  // namespace leakgate
