#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "runner/result/window_result.h"

namespace leakgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

AppliedLimit Of(std::int64_t value) { return {value, {"net.leakgate.json", 7, ""}}; }

auto IsViolation(Metric metric, std::int64_t actual, std::int64_t limit) {
  return AllOf(Field(&Violation::metric, metric), Field(&Violation::actual, actual),
               Field(&Violation::limit, Field(&AppliedLimit::value, limit)));
}

AppliedBudget Everything(std::int64_t limit) {
  AppliedBudget budget;
  budget.outstanding = {Of(limit), Of(limit)};
  budget.growth = {Of(limit), Of(limit)};
  return budget;
}

Measured MeasuredOf(Amount outstanding, Amount growth) {
  Measured measured;
  measured.outstanding = outstanding;
  measured.growth = growth;
  return measured;
}

// What a window measures that leaves `resources` descriptors, as many threads, and nothing else.
Measured MeasuredResources(std::optional<std::int64_t> resources) {
  Measured measured;
  measured.file_descriptors = measured.threads = resources;
  return measured;
}

AppliedBudget ResourceLimits(std::int64_t limit) {
  AppliedBudget budget;
  budget.file_descriptors = budget.threads = Of(limit);
  return budget;
}

TEST(JudgeTest, PassesWhatEqualsTheLimit) {
  EXPECT_THAT(Judge(MeasuredOf({5, 5}, {5, 5}), Everything(5)), IsEmpty());
}

TEST(JudgeTest, ReportsWhatExceedsTheLimitByOne) {
  EXPECT_THAT(Judge(MeasuredOf({6, 5}, {5, 5}), Everything(5)),
              ElementsAre(IsViolation(Metric::kOutstandingBytes, 6, 5)));
}

TEST(JudgeTest, ReportsEveryLimitInAFixedOrder) {
  EXPECT_THAT(Judge(MeasuredOf({64, 2}, {32, 1}), Everything(0)),
              ElementsAre(IsViolation(Metric::kOutstandingBytes, 64, 0),
                          IsViolation(Metric::kOutstandingBlocks, 2, 0),
                          IsViolation(Metric::kGrowthBytes, 32, 0),
                          IsViolation(Metric::kGrowthBlocks, 1, 0)));
}

TEST(JudgeTest, PassesWhatShrinks) {
  EXPECT_THAT(Judge(MeasuredOf({}, {-64, -1}), Everything(0)), IsEmpty());
}

TEST(JudgeTest, PassesAnythingWhereNothingIsLimited) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(Judge(MeasuredOf({kMost, kMost}, {kMost, kMost}), AppliedBudget{}), IsEmpty());
}

TEST(JudgeTest, SaysWhereTheLimitComesFrom) {
  AppliedBudget budget;
  budget.growth.blocks = AppliedLimit{0, {"net.leakgate.json", 9, "the pool keeps one"}};

  const std::vector<Violation> violations = Judge(MeasuredOf({}, {8, 1}), budget);

  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].limit.source.file, "net.leakgate.json");
  EXPECT_EQ(violations[0].limit.source.line, 9);
  EXPECT_EQ(violations[0].limit.source.reason, "the pool keeps one");
}

TEST(JudgeTest, HoldsEachQuantityAgainstItsOwnLimit) {
  AppliedBudget budget;
  budget.lost = {Of(1), Of(2)};
  budget.retained = {Of(3), Of(4)};
  budget.allocated = {Of(5), Of(6)};
  budget.temporary = {Of(10), Of(11)};
  budget.peak_bytes = Of(7);
  budget.mapped = {Of(8), Of(9)};
  Measured measured;
  measured.lost = {10, 20};
  measured.retained = {30, 40};
  measured.allocated = {50, 60};
  measured.temporary = Amount{100, 110};
  measured.peak_bytes = 70;
  measured.mapped = {80, 90};

  EXPECT_THAT(
      Judge(measured, budget),
      ElementsAre(
          IsViolation(Metric::kLostBytes, 10, 1), IsViolation(Metric::kLostBlocks, 20, 2),
          IsViolation(Metric::kRetainedBytes, 30, 3), IsViolation(Metric::kRetainedBlocks, 40, 4),
          IsViolation(Metric::kAllocatedBytes, 50, 5), IsViolation(Metric::kAllocatedBlocks, 60, 6),
          IsViolation(Metric::kTemporaryBytes, 100, 10),
          IsViolation(Metric::kTemporaryBlocks, 110, 11), IsViolation(Metric::kPeakBytes, 70, 7),
          IsViolation(Metric::kMappedBytes, 80, 8), IsViolation(Metric::kMappedBlocks, 90, 9)));
}

TEST(JudgeTest, HoldsResourcesAgainstTheirLimits) {
  EXPECT_THAT(Judge(MeasuredResources(2), ResourceLimits(1)),
              ElementsAre(IsViolation(Metric::kFileDescriptors, 2, 1),
                          IsViolation(Metric::kThreads, 2, 1)));
}

TEST(JudgeTest, PassesResourcesThatEqualTheirLimits) {
  EXPECT_THAT(Judge(MeasuredResources(1), ResourceLimits(1)), IsEmpty());
}

TEST(JudgeTest, PassesResourcesThatWereNotMeasured) {
  EXPECT_THAT(Judge(MeasuredResources(std::nullopt), ResourceLimits(0)), IsEmpty());
}

TEST(JudgeTest, NamesTheComponentWhoseLimitItIs) {
  AppliedBudget budget = Everything(0);
  budget.component = "net";

  EXPECT_THAT(Judge(MeasuredOf({8, 0}, {}), budget),
              ElementsAre(Field(&Violation::component, "net")));
}

TEST(JudgeTest, TellsTheWholeAmountOfAQuantity) {
  EXPECT_THAT(Judge(MeasuredOf({8, 3}, {}), Everything(5)),
              ElementsAre(Field(&Violation::amount, Amount{8, 3})));
}

TEST(IsGatedTest, IsFalseWithoutAnyLimit) {
  AppliedBudget budget;
  budget.component = "net";
  EXPECT_FALSE(IsGated(budget));
}

TEST(IsGatedTest, IsTrueWithOneLimitOfAnyKind) {
  AppliedBudget bytes;
  bytes.outstanding.bytes = Of(0);
  AppliedBudget growth;
  growth.growth.blocks = Of(0);
  EXPECT_TRUE(IsGated(bytes));
  EXPECT_TRUE(IsGated(growth));
}

}  // namespace
}  // namespace leakgate
