// What a test has in all must stop growing, however it is spread over call stacks, and whatever the
// bound: in number of repetitions, or in time.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

const GatedRun& RunOf(const std::string& filter, const std::vector<std::string>& options = {}) {
  return SharedRunByDefault({FixturePath("conservation_untouched"), "--gtest_filter=" + filter},
                            options);
}

const GatedRun& RunOfAll() { return RunOf("Grows*:Bounded.*-GrowsAsDrawn.*"); }

TEST(ConservationTest, FailsWhatGrowsInAllThoughNoCallStackDoes) {
  for (const char* const test :
       {"GrowsByTwoLines.OfALog", "GrowsByTwoLines.OfEvents", "GrowsByTwoLines.OfABufferByTurns",
        "GrowsByNewStacks.OfATree", "GrowsByNewStacks.AtOneOfFortySites"}) {
    EXPECT_EQ(RunOfAll().Test(test)["verdict"], "over_budget") << RunOfAll().Test(test);
  }
}

TEST(ConservationTest, FailsWhatLaterCallsKeepOrLoseThoughTheFirstOnlyBuilds) {
  for (const char* const test :
       {"GrowsFromTheSecondTime.ByWhatIsKept", "GrowsFromTheSecondTime.ByWhatIsLost"}) {
    const nlohmann::json window = RunOfAll().Test(test);
    EXPECT_EQ(window["verdict"], "over_budget") << window;
    EXPECT_THAT(TextsOf(window, "explanation"),
                Contains(AllOf(HasSubstr("repetitions it grew by"),
                               HasSubstr("; the suite's run left none of it"))));
  }
}

TEST(ConservationTest, FailsWhatTheFirstRepetitionsDoNotShow) {
  const nlohmann::json window = RunOfAll().Test("GrowsSeldom.WhereThereIsRoom");
  EXPECT_EQ(window["verdict"], "over_budget") << window;
}

TEST(ConservationTest, FailsWhatGrowsBesideMoreThatGoesUpAndDown) {
  EXPECT_EQ(RunOfAll().Test("GrowsBesideNoise.BySmallBlocks")["verdict"], "over_budget");
}

TEST(ConservationTest, PassesWhatAListenerOfTheUsersKeepsOfEachTest) {
  const nlohmann::json window = RunOf("Reported.*").Test("Reported.ByAListener");
  EXPECT_EQ(window["verdict"], "pass") << window;
  EXPECT_THAT(TextsOf(window, "explanation"), Contains(HasSubstr("a listener of GoogleTest's")));
}

TEST(ConservationTest, PassesWhatIsLostSinceASetUpIsRepeated) {
  const GatedRun& run = RunOf("*InSuitesObject.*");

  const nlohmann::json clean = run.Test("InSuitesObject.IsBuiltWhenItIsNeeded");
  EXPECT_EQ(clean["verdict"], "pass") << clean;
  for (const char* const test :
       {"ThatIsMadeOnce", "BesideWhatTheSetUpAdds", "ByWhatTheTestReplaces"}) {
    const nlohmann::json leak = run.Test(std::string("GrowsInSuitesObject.") + test);
    EXPECT_EQ(leak["verdict"], "over_budget") << leak;
  }
}

TEST(ConservationTest, PassesWhatHasABoundThatSixtyFourRepetitionsDoNotShow) {
  for (const char* const test : {"ByAThousandLines", "ByTwoHundredWords", "ByBatchesOfAHundred",
                                 "ByBytes", "ByTheLargestThatWasNeeded", "ByThreeHundredKeys"}) {
    const nlohmann::json window = RunOfAll().Test(std::string("Bounded.") + test);
    EXPECT_EQ(window["verdict"], "pass") << window;
  }
}

TEST(ConservationTest, PassesWhatIsFreedInTime) {
  const GatedRun& run = RunOf("InTime.*", {"--confirm-wait", "3"});
  for (const char* const test : {"InTime.IsDroppedByTheNextCall", "InTime.IsFreedByAThread"}) {
    EXPECT_EQ(run.Test(test)["verdict"], "pass") << run.Test(test);
  }
}

// Which of both it is, and its shape, are drawn by the seed.
TEST(ConservationTest, JudgesShapesThatAreDrawn) {
  for (int seed = 1; seed <= 3; ++seed) {
    const GatedRun run =
        RunByDefault({FixturePath("conservation_listener"), "--gtest_filter=*Drawn.*"}, {},
                     {.environment = {"FIXTURE_SEED=" + std::to_string(seed)}});
    const nlohmann::json clean = run.Test("Drawn.StaysWithinItsBound");
    EXPECT_EQ(clean["verdict"], "pass") << seed << ": " << clean;
    const nlohmann::json leak = run.Test("GrowsAsDrawn.BesideWhatIsBounded");
    EXPECT_EQ(leak["verdict"], "over_budget") << seed << ": " << leak;
  }
}

}  // namespace
}  // namespace leakgate::test
