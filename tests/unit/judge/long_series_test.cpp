#include "runner/judge/long_series.h"

#include <gtest/gtest.h>

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
