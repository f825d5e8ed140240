#include "runner/judge/surviving_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Finding Repeated(Disposition disposition) {
  Finding finding = sample::RetainedFinding(disposition);
  finding.series = {0, 0, 0, 0, 0};
  return finding;
}

WindowResult TestThatKept(const std::string& name, Disposition disposition) {
  WindowResult window = sample::PassingTest(name);
  window.findings = {Repeated(disposition)};
  return window;
}

std::vector<WindowResult> ThreeTests(Disposition disposition) {
  return {TestThatKept("A.B", disposition), TestThatKept("A.C", disposition),
          TestThatKept("A.D", disposition)};
}

TEST(SurvivingSitesTest, AreThoseFromWhichBlocksOfThreeTestsStay) {
  const SurvivingSites sites = FindSurvivingSites(ThreeTests(Disposition::kOneTime));

  ASSERT_THAT(sites, SizeIs(1));
  EXPECT_THAT(sites.begin()->second, ElementsAre("A.B", "A.C", "A.D"));
}

TEST(SurvivingSitesTest, AreNotThoseOfTwo) {
  std::vector<WindowResult> windows = ThreeTests(Disposition::kOneTime);
  windows.pop_back();

  EXPECT_THAT(FindSurvivingSites(windows), IsEmpty());
}

TEST(SurvivingSitesTest, AreNotThoseOfOneTestThatRanThreeTimes) {
  const WindowResult window = TestThatKept("A.B", Disposition::kOneTime);

  EXPECT_THAT(FindSurvivingSites({window, window, window}), IsEmpty());
}

TEST(SurvivingSitesTest, AreNotThoseOfWhatWasFreedReplacedOrAllowed) {
  EXPECT_THAT(FindSurvivingSites(ThreeTests(Disposition::kReleasedLater)), IsEmpty());
  EXPECT_THAT(FindSurvivingSites(ThreeTests(Disposition::kReplaced)), IsEmpty());
  EXPECT_THAT(FindSurvivingSites(ThreeTests(Disposition::kAllowed)), IsEmpty());
}

TEST(SurvivingSitesTest, AreNotThoseOfVariablesThatEachTestHasForItself) {
  std::vector<WindowResult> windows = ThreeTests(Disposition::kOneTime);
  for (WindowResult& window : windows) {
    window.findings[0].holder = "A_" + window.name + "_Test::TestBody()::kept (a_test.cc:8) -> 8 B";
  }

  EXPECT_THAT(FindSurvivingSites(windows), IsEmpty());
}

// Nobody had to repeat the tests.
TEST(SurvivingSitesTest, AreNotThoseOfStaticVariablesInitialisers) {
  std::vector<WindowResult> windows = ThreeTests(Disposition::kOneTime);
  for (WindowResult& window : windows) window.findings[0].series.clear();

  EXPECT_THAT(FindSurvivingSites(windows), IsEmpty());
}

TEST(SurvivingSitesTest, AreOfFindingsThatPassedWithoutGrowing) {
  const SurvivingSites sites = FindSurvivingSites(ThreeTests(Disposition::kOneTime));
  Finding full = sample::RetainedFinding(Disposition::kBounded);
  full.series = {1, 1, 0, 0, 0};

  EXPECT_NE(WhereItStays(Repeated(Disposition::kOneTime), sites), nullptr);
  EXPECT_EQ(WhereItStays(Repeated(Disposition::kSteady), sites), nullptr);
  EXPECT_EQ(WhereItStays(full, sites), nullptr);
}

TEST(SurvivingSitesTest, LeaveAFindingUnconfirmedAndSayWhy) {
  Finding finding = sample::RetainedFinding(Disposition::kOneTime);
  MarkSurviving({"A.B", "A.C", "A.D"}, finding);

  EXPECT_EQ(finding.disposition, Disposition::kUnconfirmed);
  EXPECT_EQ(finding.explanation,
            "repeated alone, the test leaves no more, but blocks of this code stay from 3 tests of "
            "this run, as A.B and A.D");
}

}  // namespace
}  // namespace leakgate
