#include "runner/report/progress_text.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using std::chrono::seconds;

TEST(ProgressTextTest, ALineHasWhatIsDoneOfAllWhatIsOverBudgetAndTheTime) {
  EXPECT_EQ(ProgressLine({.done = 1200, .all = 5000, .over_budget = 2}, seconds(35)),
            "leakgate: 1200 of 5000 tests, 2 over budget, 35 s");
}

TEST(ProgressTextTest, SaysNothingOfWhatIsNotKnownOrNotThere) {
  EXPECT_EQ(ProgressLine({.done = 1}, seconds(3)), "leakgate: 1 test, 3 s");
}

TEST(ProgressTextTest, NamesEachStage) {
  EXPECT_EQ(ProgressLine({.stage = ProgressStage::kProgram}, seconds(9)), "leakgate: running, 9 s");
  EXPECT_EQ(ProgressLine({.stage = ProgressStage::kConfirming, .done = 3, .all = 12}, seconds(61)),
            "leakgate: confirming 3 of 12 tests, 1 min 01 s");
  EXPECT_EQ(ProgressLine({.stage = ProgressStage::kReading, .done = 30, .all = 400}, seconds(0)),
            "leakgate: read 30 of 400 results, 0 s");
  EXPECT_EQ(ProgressLine({.stage = ProgressStage::kWriting, .done = 1, .all = 1}, seconds(3720)),
            "leakgate: written 1 of 1 run, 1 h 02 min");
}

TEST(ProgressTextTest, ABarFillsWithWhatIsDoneAndNamesTheRunningTest) {
  EXPECT_EQ(ProgressBar({.done = 10, .all = 40, .current = "A.B"}, seconds(5), 100),
            "leakgate: [#####...............] 10 of 40 tests, 5 s  A.B");
  EXPECT_EQ(ProgressBar({.done = 40, .all = 40}, seconds(5), 100),
            "leakgate: [####################] 40 of 40 tests, 5 s");
}

TEST(ProgressTextTest, WhatIsBeingConfirmedIsNotDone) {
  EXPECT_EQ(
      ProgressBar({.stage = ProgressStage::kConfirming, .done = 2, .all = 2}, seconds(5), 100),
      "leakgate: [##########..........] confirming 2 of 2 tests, 5 s");
}

TEST(ProgressTextTest, ThereIsNoBarWhereAllAreNotKnown) {
  EXPECT_EQ(ProgressBar({.done = 10, .current = "A.B"}, seconds(5), 100),
            "leakgate: 10 tests, 5 s  A.B");
}

TEST(ProgressTextTest, ABarNeverIsWiderThanItMayBe) {
  const Progress progress{.done = 10, .all = 40, .current = "Suite.\xC3\xA4\xC3\xB6\xC3\xBC"};
  EXPECT_EQ(ProgressBar(progress, seconds(5), 35), "leakgate: 10 of 40 tests, 5 s  Suit");
  EXPECT_EQ(ProgressBar(progress, seconds(5), 38), "leakgate: 10 of 40 tests, 5 s  Suite.\xC3\xA4");
  EXPECT_EQ(ProgressBar(progress, seconds(5), 12), "leakgate: 10");
}

TEST(ProgressTextTest, ATestsNameCannotSteerTheTerminal) {
  EXPECT_EQ(ProgressBar({.done = 1, .current = "A.\x1b[2J\n"}, seconds(5), 100),
            "leakgate: 1 test, 5 s  A.\\x1b[2J\\x0a");
}

}  // namespace
}  // namespace leakgate
