#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/report/finding_text.h"
#include "runner/report/left_behind_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::LostFinding;
using sample::RetainedFinding;

WindowResult WindowWith(std::vector<Finding> findings) {
  WindowResult window = sample::PassingTest("A.B");
  window.findings = std::move(findings);
  return window;
}

TEST(FindingFateTest, IsNothingWhereNothingIsKnown) {
  EXPECT_EQ(FateText(sample::PoolFinding()), "");
}

TEST(FindingFateTest, TellsWhatIsLost) { EXPECT_EQ(FateText(LostFinding()), "lost"); }

TEST(FindingFateTest, TellsWhatIsLostWithWhatLedToIt) {
  Finding finding = LostFinding();
  finding.reach = Reach::kIndirectlyLost;

  EXPECT_EQ(FateText(finding), "lost with what led to it");
}

struct FateCase {
  Disposition disposition;
  const char* text;
};

class DispositionTextTest : public testing::TestWithParam<FateCase> {};

TEST_P(DispositionTextTest, FollowsHowItIsHeld) {
  EXPECT_EQ(FateText(RetainedFinding(GetParam().disposition)), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    , DispositionTextTest,
    testing::Values(FateCase{Disposition::kOutstanding, "retained"},
                    FateCase{Disposition::kAllowed, "retained, allowed"},
                    FateCase{Disposition::kOtherThread, "retained, another thread's"},
                    FateCase{Disposition::kReplaced, "retained, replaced"},
                    FateCase{Disposition::kReleasedLater, "retained, freed later"},
                    FateCase{Disposition::kOneTime, "retained, one-time initialisation"},
                    FateCase{Disposition::kBounded, "retained, bounded"},
                    FateCase{Disposition::kSteady, "retained, grows"},
                    FateCase{Disposition::kUnconfirmed, "retained, unconfirmed"}));

TEST(FindingFateTest, NamesADispositionAloneWhereReachIsNotKnown) {
  Finding finding = sample::PoolFinding();
  finding.disposition = Disposition::kReleasedLater;

  EXPECT_EQ(FateText(finding), "freed later");
}

TEST(FindingFateTest, ShowsWhatEachRepetitionAdded) {
  Finding finding = RetainedFinding(Disposition::kUnconfirmed);
  finding.series = {1, 0, -2};

  EXPECT_EQ(FateText(finding), "retained, unconfirmed, repeated: +1 +0 -2 blocks");
}

TEST(FindingFateTest, SaysByHowMuchItGrowsEachTime) {
  Finding finding = RetainedFinding(Disposition::kSteady);
  finding.series = std::vector<std::int64_t>(63, 1);
  finding.series_bytes = std::vector<std::int64_t>(63, 64);
  EXPECT_EQ(FateText(finding), "retained, grows by 1 block each time");

  finding.series[7] = 3;
  EXPECT_EQ(FateText(finding), "retained, grows by 1 to 3 blocks each time");
}

TEST(FindingFateTest, SaysByHowManyBytesABlockGrowsEachTime) {
  Finding finding = RetainedFinding(Disposition::kSteady);
  finding.series = {0, 0, 0};
  finding.series_bytes = {64, 64, 64};
  EXPECT_EQ(FateText(finding), "retained, grows by 64 B each time");

  finding.series_bytes = {64, 128, 64};
  EXPECT_EQ(FateText(finding), "retained, grows by 64 B to 128 B each time");
}

TEST(FindingFateTest, ShowsTheFirstFiveOfALongSeriesThatDoesNotGrowEachTime) {
  Finding finding = RetainedFinding(Disposition::kSteady);
  finding.series = {1, 0, 1, 0, 1, 0, 1, 0};

  EXPECT_EQ(FateText(finding), "retained, grows, repeated: +1 +0 +1 +0 +1 blocks");
}

TEST(FindingFateTest, ShowsTheBytesOfABlockThatGrows) {
  Finding finding = RetainedFinding(Disposition::kSteady);
  finding.series = {0, 0, 0};
  finding.series_bytes = {1 << 20, 0, -64};

  EXPECT_EQ(FateText(finding), "retained, grows, repeated: +0 +0 +0 blocks, +1.0 MiB +0 B -64 B");
}

TEST(FindingFateTest, EndsWithTheExplanation) {
  Finding finding = RetainedFinding(Disposition::kAllowed);
  finding.explanation = "one socket is pooled";

  EXPECT_EQ(FateText(finding), "retained, allowed (one socket is pooled)");
}

TEST(PassedFatesTest, AreNoneWhereNothingIsLeft) { EXPECT_EQ(PassedFates({WindowWith({})}), ""); }

TEST(PassedFatesTest, CountEachFateOverAllTests) {
  EXPECT_EQ(PassedFates({WindowWith({RetainedFinding(Disposition::kOneTime),
                                     RetainedFinding(Disposition::kBounded)}),
                         WindowWith({RetainedFinding(Disposition::kOneTime)})}),
            "2 one-time initialisations, 1 bounded cache");
}

TEST(PassedFatesTest, NameTheRestOfThemInAFixedOrder) {
  EXPECT_EQ(PassedFates({WindowWith({RetainedFinding(Disposition::kAllowed),
                                     RetainedFinding(Disposition::kReleasedLater),
                                     RetainedFinding(Disposition::kReplaced)})}),
            "1 replacement, 1 late release, 1 allowed finding");
}

TEST(PassedFatesTest, LeaveOutWhatFails) {
  EXPECT_EQ(PassedFates({WindowWith({LostFinding(), RetainedFinding(Disposition::kSteady),
                                     RetainedFinding(Disposition::kUnconfirmed)})}),
            "");
}

TEST(PassedFatesTest, LeaveOutSuitesAndTheProgram) {
  WindowResult window = WindowWith({RetainedFinding(Disposition::kOneTime)});
  window.kind = WindowKind::kSuite;

  EXPECT_EQ(PassedFates({window}), "");
}

}  // namespace
}  // namespace leakgate
