#include "runner/run/counts_by_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leakgate {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint32_t kTest = kFirstTest;

CountsByStack::Live BlockOf(std::uint32_t stack, std::uint32_t test = kTest) {
  return {.stack = stack, .test = test, .amount = {10, 1}, .is_of_tests = true};
}

TEST(CountsByStackTest, TellsWhatEachLookFoundMore) {
  CountsByStack counts;
  counts.Note({BlockOf(1)});
  counts.Note({BlockOf(1), BlockOf(1), BlockOf(2)});
  counts.Note({BlockOf(2)});

  const auto all = counts.AllSeries();
  EXPECT_THAT(all.at(1).blocks, ElementsAre(1, -2));
  EXPECT_THAT(all.at(2).bytes, ElementsAre(10, 0));
  EXPECT_EQ(all.at(1).first, (Amount{10, 1}));
}

TEST(CountsByStackTest, TellsTestsApart) {
  CountsByStack counts;
  counts.Note({});
  counts.Note({BlockOf(1), BlockOf(1, kTest + 1), BlockOf(1, kOfNobody)});

  const auto of_test = counts.AllSeries([](std::uint32_t test) { return test == kTest; });
  EXPECT_THAT(of_test.at(1).blocks, ElementsAre(1));
  EXPECT_THAT(counts.AllSeries().at(1).blocks, ElementsAre(3));
  EXPECT_THAT(counts.FindChanged(), SizeIs(3));
}

TEST(CountsByStackTest, HalvesItsLooksAndKeepsTheFirstOnes) {
  CountsByStack counts;
  std::vector<CountsByStack::Live> live;
  for (std::size_t i = 0; i <= kMostLooks; ++i) {
    counts.Note(live);
    live.push_back(BlockOf(1));
  }
  const RepetitionSeries series = counts.AllSeries().at(1);
  EXPECT_EQ(counts.stride(), 2U);
  EXPECT_EQ(series.stride, 2U);
  EXPECT_THAT(series.blocks, SizeIs(kMostLooks / 2));
  EXPECT_THAT(series.blocks, Each(2));
  EXPECT_THAT(series.told_blocks, SizeIs(63));
  EXPECT_THAT(series.told_blocks, Each(1));
  EXPECT_EQ(CountRepetitions(series), kMostLooks + 1);
}

}  // namespace
}  // namespace leakgate
