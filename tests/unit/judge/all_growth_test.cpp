#include "runner/judge/all_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using testing::HasSubstr;

// A block that two lines append to by turns.
RepetitionSeries FirstLine() { return {{0, -1, 1, -1, 1}, {0, -40, 80, -80, 120}}; }
RepetitionSeries SecondLine() { return {{1, 0, 0, 0, 0}, {20, 60, -60, 100, -100}}; }

AllGrowth OfBoth() {
  AllGrowth all;
  AddSeries(FirstLine(), all.total);
  AddSeries(SecondLine(), all.total);
  all.shares.push_back({"a", sample::RetainedFinding(Disposition::kUnconfirmed), FirstLine()});
  return all;
}

TEST(AllGrowthTest, SumsWhatMovesFromStackToStack) {
  EXPECT_EQ(OfBoth().total.bytes, (std::vector<std::int64_t>{20, 20, 20, 20, 20}));
  EXPECT_EQ(JudgeSum(OfBoth(), SeriesLength::kShort).growth, Growth::kSteady);
}

TEST(AllGrowthTest, IsFlatWhereNothingCounts) {
  EXPECT_EQ(JudgeSum({}, SeriesLength::kFinal).growth, Growth::kNone);
}

TEST(AllGrowthTest, SaysTheSumAndTheLargestShares) {
  EXPECT_THAT(ExplainSum(OfBoth()),
              HasSubstr("in 6 repetitions all call sites together grew by 1 block, 100 B: "));
}

TEST(AllGrowthTest, TellsWhatOthersGiveBack) {
  const RepetitionSeries own = {{1, 1, 1}, {10, 10, 10}};
  AllGrowth all;
  all.total = {{0, 0, 0}, {0, 0, 0}};
  EXPECT_FALSE(IsMadeUpFor(all, own));
  all.fallen = {30, 3};
  EXPECT_TRUE(IsMadeUpFor(all, own));
}

TEST(AllGrowthTest, CountsTheAverageOfWhatTheSuiteDidNotLeave) {
  const GrowthShare share{
      "a", sample::RetainedFinding(Disposition::kUnconfirmed), {{1, 1, 1}, {100, 100, 130}}};
  EXPECT_EQ(FindingOf(share, share.series).amount, (Amount{110, 1}));
}

}  // namespace
}  // namespace leakgate
