#include <gtest/gtest.h>

#include <string>

#include "runner/budget/wording.h"
#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

TEST(GlobTest, MatchesTheWholeNameOnly) {
  EXPECT_TRUE(MatchesGlob("net", "net"));
  EXPECT_FALSE(MatchesGlob("net", "net2"));
  EXPECT_FALSE(MatchesGlob("net2", "net"));
}

TEST(GlobTest, LetsAStarStandForAnyText) {
  EXPECT_TRUE(MatchesGlob("net_*", "net_test"));
  EXPECT_TRUE(MatchesGlob("net_*", "net_"));
  EXPECT_TRUE(MatchesGlob("*_test", "net_test"));
  EXPECT_FALSE(MatchesGlob("*_test", "net_tests"));
}

TEST(GlobTest, TriesALongerTextForAStarWhereAShortOneFails) {
  EXPECT_TRUE(MatchesGlob("*ab", "aab"));
  EXPECT_TRUE(MatchesGlob("a*b*c", "abbbcbc"));
  EXPECT_FALSE(MatchesGlob("a*b*c", "abbbcb"));
}

TEST(GlobTest, LetsAQuestionMarkStandForOneCharacter) {
  EXPECT_TRUE(MatchesGlob("net?", "net1"));
  EXPECT_FALSE(MatchesGlob("net?", "net"));
  EXPECT_FALSE(MatchesGlob("net?", "net12"));
}

TEST(GlobTest, MatchesAnEmptyNameByStarsOnly) {
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_TRUE(MatchesGlob("**", ""));
  EXPECT_FALSE(MatchesGlob("?", ""));
}

TEST(GlobTest, TakesTimeInProportionToTheLengthsAtMost) {
  // A matcher that goes back to every star would not return in any useful time.
  const std::string name(2000, 'a');
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "a*";
  EXPECT_FALSE(MatchesGlob(glob + "b", name));
}

TEST(FilterTest, MatchesByAnyOfItsPatterns) {
  EXPECT_TRUE(MatchesFilter("A.*:B.*", "A.One"));
  EXPECT_TRUE(MatchesFilter("A.*:B.*", "B.One"));
  EXPECT_FALSE(MatchesFilter("A.*:B.*", "C.One"));
}

TEST(FilterTest, LeavesOutWhatFollowsTheDash) {
  EXPECT_TRUE(MatchesFilter("A.*-A.Two:A.Three", "A.One"));
  EXPECT_FALSE(MatchesFilter("A.*-A.Two:A.Three", "A.Two"));
  EXPECT_FALSE(MatchesFilter("A.*-A.Two:A.Three", "A.Three"));
}

TEST(FilterTest, MatchesEverythingElseWhereItOnlyLeavesOut) {
  EXPECT_TRUE(MatchesFilter("-A.*", "B.One"));
  EXPECT_FALSE(MatchesFilter("-A.*", "A.One"));
}

TEST(FilterTest, TakesASecondDashForPartOfANegativePattern) {
  EXPECT_TRUE(MatchesFilter("A.*-B-C", "A.One"));
  EXPECT_TRUE(MatchesFilter("*-B-C", "B"));
  EXPECT_FALSE(MatchesFilter("*-B-C", "B-C"));
}

TEST(FilterTest, LeavesOutNothingAfterALoneDash) { EXPECT_TRUE(MatchesFilter("A.*-", "A.One")); }

TEST(FilterTest, MatchesNoTestWhenEmpty) {
  EXPECT_FALSE(MatchesFilter("", "A.One"));
  EXPECT_TRUE(MatchesFilter("", ""));
}

TEST(FilterTest, PassesOverAnEmptyPattern) {
  EXPECT_TRUE(MatchesFilter("A.One::B.One:", "B.One"));
  EXPECT_FALSE(MatchesFilter("A.One::B.One:", "C.One"));
}

TEST(FilterTest, MatchesTypedAndParameterisedNames) {
  EXPECT_TRUE(MatchesFilter("*/HttpTest.*/0", "Tls/HttpTest.Get/0"));
  EXPECT_TRUE(MatchesFilter("HttpTest/?.Get", "HttpTest/1.Get"));
}

TEST(FilterTest, MatchesAnyOfSeveralFilters) {
  EXPECT_TRUE(MatchesAnyFilter({"A.*", "B.*-B.One"}, "B.Two"));
  EXPECT_FALSE(MatchesAnyFilter({"A.*", "B.*-B.One"}, "B.One"));
  EXPECT_FALSE(MatchesAnyFilter({}, "B.One"));
}

TEST(GlobTest, CostsAsMuchForEachByteOfANameHoweverLongItIs) {
  std::string glob;
  for (int i = 0; i < 100; ++i) glob += "*a?";
  for (const char* const end : {"b", "*b", "*aaaaaaaab"}) {
    const double growth = test::GrowthOfCost(
        20'000, [](std::size_t length) { return std::string(length, 'a'); },
        [&](const std::string& name) { EXPECT_FALSE(MatchesGlob(glob + end, name)); });
    EXPECT_LT(growth, test::kMostGrowth) << end;
  }
}

}  // namespace
}  // namespace leakgate
