#include "runner/judge/repetition_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/net_series.h"

namespace leakgate {
namespace {

Growth InShort(const Net& net) { return ClassifyGrowth(net, SeriesLength::kShort); }
// As threads and descriptors are judged, of which 64 are more than a bound.
constexpr SeriesScale kFew = {.beyond = kBeyondFew};
Growth SoFar(const Net& net) { return ClassifyGrowth(net, SeriesLength::kOpen, kFew); }
Growth InAll(const Net& net) { return ClassifyGrowth(net, SeriesLength::kFinal, kFew); }

// `value` at each of `size` repetitions that `is_at` is true of, which counts from 1; else 0.
template <typename IsAt>
Net SeriesOf(std::size_t size, IsAt is_at, std::int64_t value = 1) {
  Net net(size);
  for (std::size_t i = 0; i < size; ++i) net[i] = is_at(i + 1) ? value : 0;
  return net;
}
Net EachNth(std::size_t size, std::size_t period) {
  return SeriesOf(size, [=](std::size_t i) { return i % period == 0; });
}
bool IsPowerOfTwo(std::size_t number) { return (number & (number - 1)) == 0; }
// As the buffer of a vector that gets one more each time, until it has `most`.
Net Doubling(std::size_t size, std::size_t most = 1'000'000) {
  Net net = SeriesOf(
      size, [=](std::size_t i) { return IsPowerOfTwo(i) && i < most; }, 64);
  for (std::size_t i = 0; i < size; ++i) net[i] *= static_cast<std::int64_t>(i + 1);
  return net;
}

TEST(ShortSeriesTest, WithoutAnyRepetitionTellsNothing) {
  EXPECT_EQ(InShort({}), Growth::kIrregular);
}

TEST(ShortSeriesTest, IsNoGrowthWhereNothingIsAdded) {
  EXPECT_EQ(InShort({0, 0, 0, 0, 0}), Growth::kNone);
}

TEST(ShortSeriesTest, IsNoGrowthWhereItShrinks) {
  EXPECT_EQ(InShort({0, -1, 0, -3, 0}), Growth::kNone);
}

TEST(ShortSeriesTest, IsSteadyWhereEachRepetitionAdds) {
  EXPECT_EQ(InShort({1, 1, 1, 1, 1}), Growth::kSteady);
  EXPECT_EQ(InShort({1, 7, 2, 1, 3}), Growth::kSteady);
}

TEST(ShortSeriesTest, IsBoundedWhereItStopsForThreeTimesAsLongAsItEverWaited) {
  EXPECT_EQ(InShort({1, 1, 0, 0, 0}), Growth::kBounded);
  EXPECT_EQ(InShort({1, 0, 0, 0, 0}), Growth::kBounded);
}

TEST(ShortSeriesTest, IsIrregularWhereItHasOnlyJustStopped) {
  EXPECT_EQ(InShort({1, 1, 1, 1, 0}), Growth::kIrregular);
  EXPECT_EQ(InShort({1, 1, 1, 0, 0}), Growth::kIrregular);
}

TEST(ShortSeriesTest, IsIrregularWhereItGrowsNowAndThen) {
  EXPECT_EQ(InShort({0, 1, 0, 1, 0}), Growth::kIrregular);
  EXPECT_EQ(InShort({1, 0, 1, 0, 0}), Growth::kIrregular);
  EXPECT_EQ(InShort({0, 1, 0, 0, 0}), Growth::kIrregular);
}

TEST(ShortSeriesTest, IsIrregularWhereItGrowsInTheEndOnly) {
  EXPECT_EQ(InShort({0, 0, 0, 0, 1}), Growth::kIrregular);
}

TEST(ShortSeriesTest, IsIrregularWhereItGoesUpAndDown) {
  EXPECT_EQ(InShort({1, -1, 0, 0, 0}), Growth::kIrregular);
}

TEST(OpenSeriesTest, GoesOnUntilGrowthHasLastedSixtyFourRepetitions) {
  EXPECT_EQ(SoFar(EachTime(62, 62)), Growth::kIrregular);
  EXPECT_EQ(SoFar(EachTime(63, 63)), Growth::kSteady);
}

TEST(OpenSeriesTest, EndsEarlierForACacheThatIsFull) {
  EXPECT_EQ(SoFar(EachTime(30, 7)), Growth::kIrregular);
  EXPECT_EQ(SoFar(EachTime(31, 7)), Growth::kBounded);
}

TEST(OpenSeriesTest, GoesOnWhereItDidNotGrowInTheSecondHalfLongEnough) {
  EXPECT_EQ(SoFar(EachNth(63, 30)), Growth::kIrregular);
  EXPECT_EQ(SoFar(EachNth(93, 30)), Growth::kSteady);
}

TEST(OpenSeriesTest, GoesOnForAVectorThatDoubles) {
  EXPECT_EQ(ClassifyGrowth(Doubling(63), SeriesLength::kOpen), Growth::kIrregular);
}

// One block, which grew by `bytes` and then no more.
RepetitionSeries OfOneBlock(Net bytes, std::size_t size) {
  bytes.resize(size);
  return {Net(size), std::move(bytes)};
}

// One entry is added in one of eight repetitions, and the block has room for four more.
TEST(OpenSeriesTest, WaitsUntilTheRoomOfABlockIsUsed) {
  const Net doubling = {0, 0, 0, 0, 0, 711, 0, 0, 1422, 0, 0, 0, 0, 0, 2844};
  EXPECT_EQ(ClassifyGrowth(OfOneBlock(doubling, 39), SeriesLength::kOpen), Growth::kIrregular);
  EXPECT_EQ(ClassifyGrowth(OfOneBlock(doubling, 39), SeriesLength::kFinal), Growth::kIrregular);
  EXPECT_EQ(ClassifyGrowth(OfOneBlock(doubling, 120), SeriesLength::kOpen), Growth::kBounded);
}

// As a buffer that is kept at its largest does.
TEST(OpenSeriesTest, WaitsForNoRoomWhereABlockGrewByLess) {
  const Net less = {0, 0, 0, 0, 0, 711, 0, 0, 122, 0, 0, 0, 0, 0, 44};
  EXPECT_EQ(ClassifyGrowth(OfOneBlock(less, 39), SeriesLength::kOpen), Growth::kBounded);
}

TEST(LongSeriesTest, IsSteadyWhereBothHalvesGrow) {
  EXPECT_EQ(InAll({0, 1, 0, 0, 1, 0}), Growth::kIrregular);  // too short
  EXPECT_EQ(InAll(EachNth(63, 8)), Growth::kSteady);
}

// Each repetition starts a thread that ends by itself; a busy machine has more of them at a time.
TEST(OpenSeriesTest, IsNotSteadyOfThreadsThatEndByThemselves) {
  Net once_more = EachTime(158, 32);
  once_more[120] = 1;
  EXPECT_EQ(SoFar(once_more), Growth::kIrregular);
  EXPECT_EQ(InAll(once_more), Growth::kIrregular);
  Net by_and_by = EachTime(158, 32);
  for (std::size_t i = 45; i < by_and_by.size(); i += 8) by_and_by[i] = 1;
  EXPECT_EQ(SoFar(by_and_by), Growth::kIrregular);
  by_and_by[60] = -1;
  EXPECT_EQ(InAll(by_and_by), Growth::kIrregular);
}

TEST(OpenSeriesTest, IsSteadyOfThreadsThatStayBesideAPoolThatIsFull) {
  Net net = EachNth(158, 4);
  for (std::size_t i = 0; i < 8; ++i) net[i] = 1;
  EXPECT_EQ(SoFar(net), Growth::kSteady);
}

// As a cache does whose keys come by chance.
Net Fading(std::size_t size) {
  return SeriesOf(size, [](std::size_t i) {
    return i <= 17 || i == 26 || i == 32 || i == 38 || i == 45 || i == 59;
  });
}

TEST(LongSeriesTest, IsIrregularWhereGrowthFades) {
  EXPECT_EQ(SoFar(Fading(63)), Growth::kIrregular);
  EXPECT_EQ(InAll(Fading(63)), Growth::kIrregular);
  EXPECT_EQ(InAll(Fading(191)), Growth::kBounded);
  Net moving = Fading(63);
  moving[49] = -1;
  EXPECT_NE(InAll(moving), Growth::kSteady);
}

TEST(LongSeriesTest, IsSteadyWhereSomethingIsAddedOnceBesides) {
  Net net = EachNth(63, 8);
  net[0] = 1000;
  EXPECT_EQ(InAll(net), Growth::kSteady);
  net = EachTime(63, 63);
  net[3] = 1000;
  EXPECT_EQ(InAll(net), Growth::kSteady);
}

TEST(LongSeriesTest, IsSteadyForAVectorThatDoubles) {
  EXPECT_EQ(InAll(Doubling(191)), Growth::kSteady);
}

TEST(LongSeriesTest, IsBoundedForAVectorThatIsFull) {
  EXPECT_EQ(InAll(Doubling(63, 16)), Growth::kBounded);
  EXPECT_EQ(InAll(Doubling(191, 40)), Growth::kBounded);
}

TEST(LongSeriesTest, IsBoundedForACacheThatIsFull) {
  EXPECT_EQ(InAll(EachTime(63, 15)), Growth::kBounded);
  EXPECT_EQ(InAll(EachTime(63, 59)), Growth::kBounded);
}

TEST(LongSeriesTest, IsNoGrowthWhereNothingIsAdded) {
  EXPECT_EQ(InAll(EachTime(63, 0)), Growth::kNone);
}

TEST(LongSeriesTest, IsIrregularWhereOneHalfGrowsAndTheOtherIsNotLongEnough) {
  EXPECT_EQ(InAll({0, 1, 1, 0, 0, 0}), Growth::kIrregular);
  EXPECT_EQ(InAll({0, 0, 0, 0, 1, 0}), Growth::kIrregular);
}

// Values that repeat every seven repetitions, with `each` more each time.
Net Moving(std::size_t size, std::int64_t each) {
  Net net(size);
  for (std::size_t i = 0; i < size; ++i) net[i] = each + (i % 7 == 0 ? -60 : 10);
  return net;
}

TEST(MovingSeriesTest, IsBoundedWhereItFallsBackByMoreThanItRises) {
  EXPECT_EQ(InAll(Moving(63, 0)), Growth::kBounded);
}

TEST(MovingSeriesTest, IsSteadyWhereEachQuarterIsAboveTheOneBefore) {
  EXPECT_EQ(InAll(Moving(63, 5)), Growth::kSteady);
}

TEST(MovingSeriesTest, TellsNothingWhereItIsShort) {
  EXPECT_EQ(InAll({1, -1, 0, 0, 2}), Growth::kIrregular);
  EXPECT_EQ(SoFar(Moving(62, 0)), Growth::kIrregular);
}

TEST(SeriesOfBothTest, CountsTheWorseOfBlocksAndBytes) {
  EXPECT_EQ(ClassifyGrowth({{0, 0, 0, 0, 0}, {64, 64, 64, 64, 64}}, SeriesLength::kShort),
            Growth::kSteady);
  EXPECT_EQ(ClassifyGrowth({{1, 1, 1, 1, 1}, {64, -64, 0, 0, 0}}, SeriesLength::kShort),
            Growth::kSteady);
}

TEST(SeriesOfBothTest, IsIrregularInShortWhereABlockGrew) {
  EXPECT_EQ(ClassifyGrowth({{0, 0, 0, 0, 0}, {64, 0, 0, 0, 0}}, SeriesLength::kShort),
            Growth::kIrregular);
  EXPECT_EQ(ClassifyGrowth({{1, 0, 0, 0, 0}, {64, 0, 0, 0, 0}}, SeriesLength::kShort),
            Growth::kBounded);
}

RepetitionSeries Blocks(const Net& blocks) {
  Net bytes;
  for (const std::int64_t count : blocks) bytes.push_back(64 * count);
  return {blocks, bytes};
}

const RepetitionSeries kFlat = Blocks({0, 0, 0, 0, 0});
const RepetitionSeries kGrowing = Blocks({1, 1, 1, 1, 1});

Growth InAllOf(const Net& blocks, const Net& bytes) {
  return ClassifyGrowth({.blocks = blocks, .bytes = bytes, .stride = 8, .first = {100, 1}},
                        SeriesLength::kFinal);
}
Net Times(std::int64_t factor, Net net) {
  for (std::int64_t& value : net) value *= factor;
  return net;
}

// A table of 300 words, of which one of forty calls uses one, grows for as long.
TEST(SeriesOfBothTest, TellsNotWhetherWhatGrowsRarelyIsBounded) {
  const Net each_fortieth = EachNth(1500, 5);
  EXPECT_EQ(InAllOf(each_fortieth, Times(100, each_fortieth)), Growth::kIrregular);
  const Net each_sixteenth = EachNth(1500, 2);
  EXPECT_EQ(InAllOf(each_sixteenth, Times(100, each_sixteenth)), Growth::kSteady);
}

// Its room doubles, while each repetition appends to it.
TEST(SeriesOfBothTest, TellsABlockThatGrowsRarelyByMuch) {
  const Net moved = SeriesOf(1500, IsPowerOfTwo);
  EXPECT_EQ(InAllOf(Net(1500), Doubling(1500)), Growth::kSteady);
  Net there_and_back = moved;
  for (std::size_t i = 1; i < there_and_back.size(); ++i) {
    if (moved[i - 1] > 0 && moved[i] == 0) there_and_back[i] = -1;
  }
  EXPECT_EQ(InAllOf(there_and_back, Doubling(1500)), Growth::kSteady);
}

TEST(JudgeStackTest, JudgesTheStackByItself) {
  const SeriesByStack site = {{"a", kFlat}, {"b", kGrowing}};

  EXPECT_EQ(JudgeStack(site, "a", SeriesLength::kShort).growth, Growth::kNone);
  EXPECT_EQ(JudgeStack(site, "b", SeriesLength::kShort).growth, Growth::kSteady);
}

TEST(JudgeStackTest, JudgesByAnyStackThatGrowsWhereItsOwnIsMissing) {
  const JudgedSeries judged =
      JudgeStack({{"a", Blocks({-1, -1, -1, -1, -1})}, {"b", kGrowing}}, "c", SeriesLength::kShort);

  EXPECT_EQ(judged.growth, Growth::kSteady);
  EXPECT_EQ(judged.series.blocks, kGrowing.blocks);
  EXPECT_TRUE(judged.is_of_all_stacks);
}

TEST(JudgeStackTest, SeesGrowthThatMovesFromStackToStack) {
  const SeriesByStack site = {{"a", Blocks({1, 0, 0, 0, 0})},
                              {"b", Blocks({0, 1, 1, 0, 0})},
                              {"c", Blocks({0, 0, 0, 1, 1})}};
  const JudgedSeries judged = JudgeStack(site, "a", SeriesLength::kShort);

  EXPECT_EQ(judged.growth, Growth::kSteady);
  EXPECT_EQ(judged.series.blocks, kGrowing.blocks);
  EXPECT_TRUE(judged.is_of_all_stacks);
}

TEST(LastGrowthTest, IsThatOfBlocksOrBytes) {
  EXPECT_EQ(LastGrowth(kFlat), 0U);
  EXPECT_EQ(LastGrowth({{1, 0, 0, 0, 0}, {64, 0, 8, 0, 0}}), 3U);
}

}  // namespace
}  // namespace leakgate
