#include "runner/judge/long_series.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/judge/net_series.h"

namespace leakgate {
namespace {

Growth LongSoFar(const Net& net, std::size_t stride = 1) {
  return ClassifyLong(net, {.stride = stride}, SeriesLength::kOpen);
}
Growth LongInAll(const Net& net, std::size_t stride = 1) {
  return ClassifyLong(net, {.stride = stride}, SeriesLength::kFinal);
}

TEST(LongSeriesOfManyTest, IsSteadyOnlyBeyondWhatABoundHolds) {
  EXPECT_EQ(LongSoFar(EachTime(127, 127)), Growth::kIrregular);
  EXPECT_EQ(LongInAll(EachTime(127, 127)), Growth::kIrregular);
  EXPECT_EQ(LongSoFar(EachTime(80, 80, 16), 16), Growth::kSteady);
}

TEST(LongSeriesOfManyTest, IsBoundedOnceItHasStoppedForAsLongAsItGrew) {
  EXPECT_EQ(LongSoFar(EachTime(100, 63, 16), 16), Growth::kIrregular);
  EXPECT_EQ(LongSoFar(EachTime(126, 63, 16), 16), Growth::kBounded);
}

TEST(LongSeriesOfManyTest, NeedsAThousandEntriesOrALongTimeOfWhatGrowsSeldom) {
  Net net(100);
  for (std::size_t i = 0; i < net.size(); i += 2) net[i] = 1;
  EXPECT_EQ(LongSoFar(net, 16), Growth::kIrregular);
  EXPECT_EQ(LongSoFar(net, 128), Growth::kSteady);
}

TEST(LongSeriesOfManyTest, IsBoundedWhereItGrowsByEverLess) {
  Net net(100);
  std::int64_t left = 1000;
  for (std::int64_t& value : net) {
    value = left / 16;
    left -= value;
  }
  EXPECT_EQ(LongInAll(net, 16), Growth::kBounded);
}

TEST(LongSeriesOfManyTest, TakesFewerRepetitionsOfMuchMemory) {
  EXPECT_EQ(LongSoFar(EachTime(63, 63, 1 << 20)), Growth::kIrregular);
  EXPECT_EQ(LongSoFar(EachTime(63, 63, 8 << 20)), Growth::kSteady);
}

TEST(LongSeriesOfFewTest, IsBoundedWhereItComesBackToItsLeast) {
  const Net queue = {1, -1, 0, 1, 0, 0, -1};
  EXPECT_EQ(ClassifyLong(queue, {}, SeriesLength::kSlow), Growth::kBounded);
  EXPECT_EQ(LongInAll(queue), Growth::kBounded);
  EXPECT_EQ(LongSoFar(queue), Growth::kIrregular);
  EXPECT_EQ(ClassifyLong({0, 0, 2, -2, 3, 0, 0}, {}, SeriesLength::kSlow), Growth::kIrregular);
  EXPECT_EQ(ClassifyLong({-3, 1, 1, 1, 1, 1, -1}, {}, SeriesLength::kSlow), Growth::kIrregular);
}

// The rates that docs/internals/confirming-growth.md states.
TEST(LongSeriesOfFewTest, AcquitsHardlyAnyGrowthBelowAQueue) {
  std::minstd_rand random(1);
  const auto acquits = [&](int most, int each) {
    std::vector<std::int64_t> levels(16);
    const int from = each == 0 ? 0 : static_cast<int>(random()) % each;
    for (int i = 0; i < 16; ++i) {
      const auto moves = static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
      levels[static_cast<std::size_t>(i)] = moves + (each == 0 ? 0 : (from + i) / each);
    }
    Net net(levels.size());
    std::adjacent_difference(levels.begin(), levels.end(), net.begin());
    net.erase(net.begin());
    const Net few(net.begin(), net.begin() + 7);
    return ClassifyLong(few, {}, SeriesLength::kSlow) == Growth::kBounded ||
           ClassifyLong(net, {}, SeriesLength::kSlow) == Growth::kBounded;
  };
  const auto times = [&](int most, int each) {
    int count = 0;
    for (int i = 0; i < 1000; ++i) count += acquits(most, each) ? 1 : 0;
    return count;
  };
  EXPECT_GE(times(1, 0), 950);  // a queue's spare chunk
  EXPECT_GE(times(3, 0), 650);
  for (const int most : {1, 3, 10}) {
    EXPECT_LE(times(most, 1), 10) << most;
    EXPECT_LE(times(most, 2), 30) << most;
    EXPECT_LE(times(most, 4), 110) << most;
  }
}

// A batch of 50 that is freed at once, and `each` more with each look.
Net Batches(std::size_t size, std::int64_t each) {
  Net net(size);
  for (std::size_t i = 0; i < size; ++i) net[i] = each + (i % 5 == 4 ? -40 : 10);
  return net;
}

TEST(LongSeriesOfManyTest, TellsGrowthFromBatches) {
  EXPECT_EQ(LongInAll(Batches(120, 0), 16), Growth::kBounded);
  EXPECT_EQ(LongInAll(Batches(120, 10), 16), Growth::kSteady);
}

}  // namespace
}  // namespace leakgate
