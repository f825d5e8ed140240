#include "runner/report/excess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingTest;
using sample::Over;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const LimitSource kNet14 = {"net.json", 14, ""};

WindowResult WindowOver(std::vector<Violation> violations) {
  WindowResult window = FailingTest();
  window.violations = std::move(violations);
  return window;
}

TEST(ExcessTest, IsNoneWithinTheBudget) {
  EXPECT_THAT(Excesses(sample::PassingTest("A.B")), IsEmpty());
}

TEST(ExcessTest, TellsTheOutstandingAmountAndTheBudget) {
  const std::vector<Excess> excesses =
      Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 64, kNet14)}));

  ASSERT_THAT(excesses, SizeIs(1));
  EXPECT_EQ(excesses[0].amount, "128 B in 2 blocks outstanding");
  EXPECT_EQ(excesses[0].budget, "budget 64 B");
}

TEST(ExcessTest, TellsALimitOnBlocksInBlocks) {
  EXPECT_EQ(Excesses(WindowOver({Over(Metric::kOutstandingBlocks, 2, 1, kNet14)}))[0].budget,
            "budget 1 block");
}

TEST(ExcessTest, TellsBytesAndBlocksTogether) {
  const std::vector<Excess> excesses =
      Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 64, kNet14),
                           Over(Metric::kOutstandingBlocks, 2, 1, kNet14)}));

  ASSERT_THAT(excesses, SizeIs(1));
  EXPECT_EQ(excesses[0].budget, "budget 64 B and 1 block");
}

TEST(ExcessTest, TellsABudgetOfNothingInOneNumber) {
  const std::vector<Excess> excesses =
      Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 0, kNet14),
                           Over(Metric::kOutstandingBlocks, 2, 0, kNet14)}));

  EXPECT_EQ(excesses[0].budget, "budget 0 B");
}

TEST(ExcessTest, TellsGrowthWithItsSign) {
  const WindowResult window = WindowOver({Over(Metric::kGrowthBytes, 64, 32, kNet14, {64, -1})});

  EXPECT_EQ(Excesses(window)[0].amount, "growth +64 B (-1 block)");
  EXPECT_EQ(Excesses(window)[0].budget, "budget 32 B");
}

TEST(ExcessTest, TellsQuantitiesInTheOrderOfTheirViolations) {
  const std::vector<Excess> excesses = Excesses(
      WindowOver({Over(Metric::kOutstandingBytes, 128, 0), Over(Metric::kGrowthBytes, 128, 0)}));

  ASSERT_THAT(excesses, SizeIs(2));
  EXPECT_EQ(excesses[0].amount, "128 B in 2 blocks outstanding");
  EXPECT_EQ(excesses[1].amount, "growth +128 B (+2 blocks)");
}

TEST(ExcessTest, NamesTheLineThatSetsTheLimit) {
  EXPECT_THAT(Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 0, kNet14)}))[0].sources,
              ElementsAre("net.json:14"));
}

TEST(ExcessTest, NamesNoBudgetWhereNoFileSetsALimit) {
  const Excess excess = Excesses(WindowOver({Over(Metric::kLostBytes, 128, 0)}))[0];

  EXPECT_EQ(excess.budget, "");
  EXPECT_THAT(excess.sources, IsEmpty());
  EXPECT_EQ(ExcessText(excess), "128 B in 2 blocks lost");
}

TEST(ExcessTest, NamesASharedLineOnceAndDifferentLinesAll) {
  const LimitSource other = {"net.json", 15, ""};
  EXPECT_THAT(Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 0, kNet14),
                                   Over(Metric::kOutstandingBlocks, 2, 0, kNet14)}))[0]
                  .sources,
              ElementsAre("net.json:14"));
  EXPECT_THAT(Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 0, kNet14),
                                   Over(Metric::kOutstandingBlocks, 2, 0, other)}))[0]
                  .sources,
              ElementsAre("net.json:14", "net.json:15"));
}

TEST(ExcessTest, CarriesAnOverridesReasonOnce) {
  const LimitSource source = {"net.json", 14, "one socket is pooled"};
  EXPECT_THAT(Excesses(WindowOver({Over(Metric::kOutstandingBytes, 128, 64, source),
                                   Over(Metric::kOutstandingBlocks, 2, 1, source)}))[0]
                  .reasons,
              ElementsAre("one socket is pooled"));
}

TEST(ExcessTest, IsExactWhereRoundedNumbersWouldLookEqual) {
  const WindowResult window =
      WindowOver({Over(Metric::kOutstandingBytes, 20481, 20480, kNet14, {20481, 1})});

  EXPECT_EQ(Excesses(window)[0].amount, "20481 B in 1 block outstanding");
  EXPECT_EQ(Excesses(window)[0].budget, "budget 20480 B");
}

struct QuantityCase {
  Metric metric;
  std::int64_t actual;
  const char* amount;
  const char* budget;
};

class QuantityTest : public testing::TestWithParam<QuantityCase> {};

TEST_P(QuantityTest, IsToldInItsOwnWords) {
  const std::vector<Excess> excesses =
      Excesses(WindowOver({Over(GetParam().metric, GetParam().actual, 1, kNet14)}));

  ASSERT_THAT(excesses, SizeIs(1));
  EXPECT_EQ(excesses[0].amount, GetParam().amount);
  EXPECT_EQ(excesses[0].budget, GetParam().budget);
}

INSTANTIATE_TEST_SUITE_P(
    , QuantityTest,
    testing::Values(
        QuantityCase{Metric::kLostBlocks, 2, "128 B in 2 blocks lost", "budget 1 block"},
        QuantityCase{Metric::kRetainedBlocks, 2, "128 B in 2 blocks retained", "budget 1 block"},
        QuantityCase{Metric::kSteadyBlocks, 2, "128 B in 2 blocks retained, growing each time",
                     "budget 1 block"},
        QuantityCase{Metric::kAllocatedBlocks, 2, "128 B in 2 blocks allocated", "budget 1 block"},
        QuantityCase{Metric::kTemporaryBlocks, 2, "128 B in 2 blocks allocated for a moment only",
                     "budget 1 block"},
        QuantityCase{Metric::kPeakBytes, 64, "64 B live at the peak", "budget 1 B"},
        QuantityCase{Metric::kMappedBytes, 128, "128 B in 2 mappings left mapped", "budget 1 B"},
        QuantityCase{Metric::kMappedBlocks, 2, "128 B in 2 mappings left mapped",
                     "budget 1 mapping"},
        QuantityCase{Metric::kFileDescriptors, 2, "2 file descriptors left open", "budget 1"},
        QuantityCase{Metric::kThreads, 2, "2 threads left running", "budget 1"}));

TEST(ExcessTest, TellsTheSameQuantityOfTwoComponentsApart) {
  WindowResult window =
      WindowOver({Over(Metric::kLostBytes, 128, 0), Over(Metric::kLostBytes, 64, 0)});
  window.violations[1].component = "pool";
  const std::vector<Excess> excesses = Excesses(window);

  ASSERT_THAT(excesses, SizeIs(2));
  EXPECT_EQ(excesses[0].component, "");
  EXPECT_EQ(excesses[1].component, "pool");
}

TEST(ExcessTest, LeavesOutTheMappingsWhereTheReportDoesNotTellThem) {
  const WindowResult window = WindowOver({Over(Metric::kMappedBytes, 128, 0, {}, {128, 0})});

  EXPECT_EQ(Excesses(window)[0].amount, "128 B left mapped");
}

TEST(ExcessTest, IsExactForGrowthToo) {
  const WindowResult window =
      WindowOver({Over(Metric::kGrowthBytes, 20481, 20480, kNet14, {20481, 1})});

  EXPECT_EQ(Excesses(window)[0].amount, "growth +20481 B (+1 block)");
}

}  // namespace
}  // namespace leakgate
