#include "runner/run/confirmation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;

enum class Length { kShort, kLong };

Finding After(const std::vector<std::int64_t>& series, Length length = Length::kShort) {
  Finding finding = sample::RetainedFinding(Disposition::kUnconfirmed);
  finding.explanation = "not repeated yet";
  ApplySeries(series, length == Length::kLong, finding);
  return finding;
}

TEST(ApplySeriesTest, CallsWhatIsNotLeftAgainOneTimeInitialisation) {
  EXPECT_EQ(After({0, 0, 0, 0, 0}).disposition, Disposition::kOneTime);
}

TEST(ApplySeriesTest, CallsWhatStopsBounded) {
  EXPECT_EQ(After({1, 1, 0, 0, 0}).disposition, Disposition::kBounded);
}

TEST(ApplySeriesTest, CallsWhatIsLeftEachTimeSteady) {
  EXPECT_EQ(After({1, 1, 1, 1, 1}).disposition, Disposition::kSteady);
}

TEST(ApplySeriesTest, LeavesWhatIsIrregularUnconfirmedAndSaysSo) {
  const Finding finding = After({0, 1, 0, 1, 0});

  EXPECT_EQ(finding.disposition, Disposition::kUnconfirmed);
  EXPECT_EQ(finding.explanation, "it grows, but not regularly");
}

TEST(ApplySeriesTest, JudgesALongSeriesByItsHalves) {
  EXPECT_EQ(After({0, 1, 0, 1, 0, 0}, Length::kLong).disposition, Disposition::kSteady);
}

TEST(ApplySeriesTest, KeepsTheSeries) {
  EXPECT_THAT(After({1, 1, 0, 0, 0}).series, ElementsAre(1, 1, 0, 0, 0));
}

TEST(ApplySeriesTest, ForgetsWhatWasSaidBefore) { EXPECT_EQ(After({0, 0, 0}).explanation, ""); }

}  // namespace
}  // namespace leakgate
