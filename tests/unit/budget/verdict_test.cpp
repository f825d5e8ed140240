#include "runner/budget/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace leakgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

AppliedLimit Of(std::int64_t value) { return {value, {"net.leakgate.json", 7, ""}}; }

auto IsViolation(const std::string& metric, std::int64_t actual, std::int64_t limit) {
  return AllOf(Field(&Violation::metric, metric), Field(&Violation::actual, actual),
               Field(&Violation::limit, Field(&AppliedLimit::value, limit)));
}

AppliedBudget Everything(std::int64_t limit) {
  AppliedBudget budget;
  budget.outstanding = {Of(limit), Of(limit)};
  budget.growth = {Of(limit), Of(limit)};
  return budget;
}

TEST(JudgeTest, PassesWhatEqualsTheLimit) {
  EXPECT_THAT(Judge({.outstanding = {5, 5}, .growth = {5, 5}}, Everything(5)), IsEmpty());
}

TEST(JudgeTest, ReportsWhatExceedsTheLimitByOne) {
  EXPECT_THAT(Judge({.outstanding = {6, 5}, .growth = {5, 5}}, Everything(5)),
              ElementsAre(IsViolation("outstanding_bytes", 6, 5)));
}

TEST(JudgeTest, ReportsEveryLimitInAFixedOrder) {
  EXPECT_THAT(
      Judge({.outstanding = {64, 2}, .growth = {32, 1}}, Everything(0)),
      ElementsAre(IsViolation("outstanding_bytes", 64, 0), IsViolation("outstanding_blocks", 2, 0),
                  IsViolation("growth_bytes", 32, 0), IsViolation("growth_blocks", 1, 0)));
}

TEST(JudgeTest, PassesWhatShrinks) {
  EXPECT_THAT(Judge({.outstanding = {}, .growth = {-64, -1}}, Everything(0)), IsEmpty());
}

TEST(JudgeTest, PassesAnythingWhereNothingIsLimited) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(Judge({.outstanding = {kMost, kMost}, .growth = {kMost, kMost}}, AppliedBudget{}),
              IsEmpty());
}

TEST(JudgeTest, SaysWhereTheLimitComesFrom) {
  AppliedBudget budget;
  budget.growth.blocks = AppliedLimit{0, {"net.leakgate.json", 9, "the pool keeps one"}};

  const std::vector<Violation> violations = Judge({.outstanding = {}, .growth = {8, 1}}, budget);

  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].limit.source.file, "net.leakgate.json");
  EXPECT_EQ(violations[0].limit.source.line, 9);
  EXPECT_EQ(violations[0].limit.source.reason, "the pool keeps one");
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
