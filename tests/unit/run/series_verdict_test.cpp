#include "runner/run/series_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;

JudgedSeries Judged(Growth growth, const std::vector<std::int64_t>& blocks) {
  JudgedSeries judged{growth, {blocks, {}}};
  for (const std::int64_t count : blocks) judged.series.bytes.push_back(64 * count);
  return judged;
}

Finding After(const JudgedSeries& judged, SeriesLength length = SeriesLength::kShort) {
  Finding finding = sample::RetainedFinding(Disposition::kUnconfirmed);
  finding.explanation = "not repeated yet";
  ApplySeries(judged, length, finding);
  return finding;
}

std::vector<std::int64_t> EachTime(std::size_t size, std::size_t until) {
  std::vector<std::int64_t> series(size);
  std::fill_n(series.begin(), until, 1);
  return series;
}

const JudgedSeries kFlat = Judged(Growth::kNone, {0, 0, 0, 0, 0});

TEST(ApplySeriesTest, CallsWhatIsThereFromTheFirstRepetitionOneTimeInitialisation) {
  EXPECT_EQ(After(kFlat).disposition, Disposition::kOneTime);
  EXPECT_EQ(After(kFlat).explanation, "");
}

TEST(ApplySeriesTest, CallsWhatEachRepetitionMakesAnewBounded) {
  JudgedSeries judged = kFlat;
  judged.series.is_built_once = false;

  EXPECT_EQ(After(judged).disposition, Disposition::kBounded);
  EXPECT_EQ(After(judged).explanation, "each repetition replaces it");
}

TEST(ApplySeriesTest, CallsWhatShrinksBounded) {
  EXPECT_EQ(After(Judged(Growth::kNone, {0, -1, 0, 0, 0})).disposition, Disposition::kBounded);
}

TEST(ApplySeriesTest, CallsWhatStopsBounded) {
  EXPECT_EQ(After(Judged(Growth::kBounded, {1, 1, 0, 0, 0})).disposition, Disposition::kBounded);
}

TEST(ApplySeriesTest, SaysWhenItStopped) {
  EXPECT_EQ(After(Judged(Growth::kBounded, EachTime(63, 15)), SeriesLength::kFinal).explanation,
            "it stops growing after repetition 16 of 64");
}

TEST(ApplySeriesTest, SaysThatItGoesUpAndDown) {
  JudgedSeries judged = Judged(Growth::kBounded, EachTime(63, 0));
  judged.series.bytes[3] = -8;

  EXPECT_EQ(After(judged, SeriesLength::kFinal).explanation,
            "in 64 repetitions it goes up and down");
}

TEST(ApplySeriesTest, CallsWhatGrowsSteadyAndSaysByHowMuch) {
  const Finding finding = After(Judged(Growth::kSteady, EachTime(63, 63)), SeriesLength::kFinal);

  EXPECT_EQ(finding.disposition, Disposition::kSteady);
  EXPECT_EQ(finding.explanation, "in 64 repetitions it grew by 63 blocks, 4032 B");
}

TEST(ApplySeriesTest, SaysThatAllStacksOfTheLineTogetherGrow) {
  JudgedSeries judged = Judged(Growth::kSteady, EachTime(63, 63));
  judged.is_of_all_stacks = true;

  EXPECT_EQ(After(judged, SeriesLength::kFinal).explanation,
            "in 64 repetitions it grew by 63 blocks, 4032 B, all stacks of this line together");
}

TEST(ApplySeriesTest, TellsNoBlocksOfWhatGrowsInBytesAlone) {
  JudgedSeries judged = Judged(Growth::kSteady, EachTime(63, 0));
  judged.series.bytes = EachTime(63, 63);

  EXPECT_EQ(After(judged, SeriesLength::kFinal).explanation, "in 64 repetitions it grew by 63 B");
}

TEST(ApplySeriesTest, LeavesWhatIsIrregularUnconfirmedAndSaysSo) {
  const JudgedSeries judged = Judged(Growth::kIrregular, {0, 1, 0, 1, 0});

  EXPECT_EQ(After(judged).disposition, Disposition::kUnconfirmed);
  EXPECT_EQ(After(judged).explanation, "it grows, but not regularly");
  EXPECT_EQ(After(judged, SeriesLength::kFinal).explanation,
            "it grows, but not regularly: in 6 repetitions by 2 blocks, 128 B");
}

TEST(ApplySeriesTest, LeavesWhatMayBeLostUnconfirmed) {
  Finding finding = sample::RetainedFinding(Disposition::kUnconfirmed);
  finding.reach = Reach::kUnknown;
  ApplySeries(kFlat, SeriesLength::kShort, finding);

  EXPECT_EQ(finding.disposition, Disposition::kUnconfirmed);
}

TEST(ApplySeriesTest, KeepsBothSeries) {
  const Finding finding = After(Judged(Growth::kBounded, {1, 1, 0, 0, 0}));

  EXPECT_THAT(finding.series, ElementsAre(1, 1, 0, 0, 0));
  EXPECT_THAT(finding.series_bytes, ElementsAre(64, 64, 0, 0, 0));
}

// A line fills an array with texts. Repeated, another test has made room in the array, so only the
// texts have series.
struct ArrayAndText {
  explicit ArrayAndText(Disposition of_text) {
    Finding array = sample::RetainedFinding(Disposition::kUnconfirmed);
    Finding text = sample::RetainedFinding(of_text);
    text.stack.Edit().front().function = "operator new";
    text_stack = CallStackKey(text);
    window.budget = NoBudget();
    window.findings = {array, text};
    outcome.asked = {AskedOf(array), AskedOf(text)};
  }
  Finding Array(const std::string& growing) {
    outcome.first.series[AskedOf(window.findings[0]).site] = {
        {growing, Judged(Growth::kSteady, std::vector<std::int64_t>(6, 1)).series}};
    ApplyOutcome(outcome, window);
    return *std::find_if(window.findings.begin(), window.findings.end(),
                         [&](const Finding& it) { return CallStackKey(it) != text_stack; });
  }
  std::string text_stack;
  WindowResult window = sample::UnconfirmedTest();
  TestOutcome outcome;
};

TEST(ApplyOutcomeTest, WhatIsToldByItselfSaysNothingOfOtherStacksOfItsLine) {
  for (const Disposition of_text : {Disposition::kUnconfirmed, Disposition::kAllowed}) {
    ArrayAndText test(of_text);
    EXPECT_EQ(test.Array(test.text_stack).disposition, Disposition::kBounded);
  }
}

TEST(ApplyOutcomeTest, AnotherStackOfItsLineThatGrowsAndIsToldNowhereCounts) {
  ArrayAndText test(Disposition::kUnconfirmed);
  EXPECT_NE(test.Array("a stack that the suite's run left none of").disposition,
            Disposition::kBounded);
}

}  // namespace
}  // namespace leakgate
