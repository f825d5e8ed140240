// What tests keep and let grow, in ways that six repetitions or a count of blocks do not show,
// beside what looks alike and does not grow.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class GrowthTest : public BothModes {
 protected:
  static const GatedRun& Run() {
    return SharedRunByDefault({Fixture("growth"), "--gtest_filter=-Slow.*:Left*:Rare.*"});
  }
  static std::string VerdictOf(const std::string& test) { return Run().Test(test)["verdict"]; }
  static std::vector<std::string> Fates(const std::string& test) {
    return TextsOf(Run().Test(test), "disposition");
  }
  static std::vector<std::string> Reasons(const std::string& test) {
    return TextsOf(Run().Test(test), "explanation");
  }
};

TEST_P(GrowthTest, FailsWhereLargerBlocksReplaceSmallerOnes) {
  EXPECT_EQ(VerdictOf("Replaces.WithLargerOnesThatPile"), "over_budget");
  EXPECT_THAT(Fates("Replaces.WithLargerOnesThatPile"), Contains("steady"));
}

TEST_P(GrowthTest, FailsWhereBlocksOfOtherCallersReplaceThoseThatWereFreed) {
  EXPECT_EQ(VerdictOf("Replaces.WithOthersOfTheSameSizeThatPile"), "over_budget");
}

TEST_P(GrowthTest, PassesWhatReplacesAsMuchOfTheSameStack) {
  EXPECT_EQ(VerdictOf("Replaces.TheSameByTheSame"), "pass");
  EXPECT_EQ(VerdictOf("ReplacesByParameter.TheSameByTheSame/1"), "pass");
  EXPECT_THAT(Fates("ReplacesByParameter.TheSameByTheSame/1"), Each("replaced"));
}

TEST_P(GrowthTest, FailsABlockThatGrows) {
  for (const char* const what : {"AStaticString", "AStaticVector", "AnArray", "AnArena"}) {
    const std::string test = std::string("Bytes.Of") + what + "ThatGrows";
    EXPECT_EQ(VerdictOf(test), "over_budget");
    EXPECT_THAT(Fates(test), Contains("steady"));
  }
}

TEST_P(GrowthTest, PassesABlockThatHasTheSameSizeInTheEnd) {
  EXPECT_EQ(VerdictOf("Bytes.OfAStringThatIsSetAnew"), "pass");
  EXPECT_EQ(VerdictOf("Bytes.OfAVectorThatIsFilledAnew"), "pass");
  EXPECT_EQ(VerdictOf("Bytes.OfAnArenaThatIsResetEachTime"), "pass");
}

// A registry that a test forgets to clear looks like it, too.
TEST_P(GrowthTest, LeavesWhatATearDownKeepsOfEachTestUnconfirmed) {
  EXPECT_EQ(VerdictOf("ReportingAtTheEnd.ALine"), "unconfirmed");
  EXPECT_THAT(Reasons("ReportingAtTheEnd.ALine"),
              Contains(HasSubstr("as a report does that has an entry for each test")));
  EXPECT_EQ(VerdictOf("ReportingAtTheBegin.ALine"), "over_budget");
}

// The block of a string that is set anew is another one each time.
TEST_P(GrowthTest, SaysOneTimeInitialisationOnlyOfWhatIsThereFromTheBegin) {
  EXPECT_THAT(Fates("Bytes.OfAStringThatIsSetAnew"), Each("bounded"));
  EXPECT_THAT(Fates("Bytes.OfAVectorThatIsFilledAnew"), Each("one_time"));
}

TEST_P(GrowthTest, TellsTheBytesOfABlockThatGrows) {
  EXPECT_THAT(Run().command.standard_error, HasSubstr("grows by 1.0 MiB each time (in "));
}

TEST_P(GrowthTest, FailsWhatGrowsNowAndThen) {
  EXPECT_EQ(VerdictOf("Seldom.EachThirdCall"), "over_budget");
  EXPECT_THAT(Reasons("Seldom.EachThirdCall"), Contains(HasSubstr(" repetitions it grew by ")));
  EXPECT_EQ(VerdictOf("Seldom.EachEighthCall"), "over_budget");
}

TEST_P(GrowthTest, FailsWhatStaysFromManyTestsAndGrowsInTheLongRun) {
  EXPECT_EQ(VerdictOf("EachThirtiethCall.Keeps/0"), "over_budget");
  EXPECT_EQ(VerdictOf("EachThirtiethCall.Keeps/30"), "over_budget");
}

TEST_P(GrowthTest, LeavesWhatStaysFromManyTestsUnconfirmed) {
  EXPECT_EQ(VerdictOf("Cached.ByParameter/4"), "unconfirmed");
  EXPECT_THAT(Reasons("Cached.ByParameter/4"),
              Each(HasSubstr("blocks of this code stay from 5 tests of this run, as "
                             "Cached.ByParameter/0 and Cached.ByParameter/4")));
}

TEST_P(GrowthTest, PassesWhatManyTestsShareOrKeepForThemselves) {
  EXPECT_EQ(VerdictOf("CachedOnce.ForAll/0"), "pass");
  for (const char* const which : {"First", "Second", "Third"}) {
    EXPECT_EQ(VerdictOf(std::string("OwnStatic.OfThe") + which), "pass");
  }
}

TEST_P(GrowthTest, PassesBoundedCachesOfMoreThanFiveEntries) {
  EXPECT_EQ(VerdictOf("Bounded.BySixteenLines"), "pass");
  EXPECT_EQ(VerdictOf("Bounded.ByFortyBuffers"), "pass");
  EXPECT_EQ(VerdictOf("Bounded.ByEightBuffersThatAreFreed"), "pass");
  EXPECT_THAT(Reasons("Bounded.ByFortyBuffers"),
              Contains(HasSubstr("it stops growing after repetition 4")));
}

TEST_P(GrowthTest, FailsTheSameWithoutABound) {
  EXPECT_EQ(VerdictOf("Unbounded.Lines"), "over_budget");
}

// A thousand repetitions add less than the ring has.
TEST_P(GrowthTest, FailsALogBesideSomethingBoundedThatIsLarger) {
  EXPECT_EQ(VerdictOf("Ring.Alone"), "pass");
  EXPECT_EQ(VerdictOf("Ring.BesideALogOfTwoLines"), "over_budget");
}

// By the first twenty repetitions nobody can tell it from what is built once, and by some thousands
// not from a table of a hundred words.
TEST_P(GrowthTest, LeavesUnconfirmedWhatGrowsRarely) {
  const auto alone = [](const std::string& test) {
    return RunByDefault({Fixture("growth"), "--gtest_filter=" + test}).Test(test)["verdict"];
  };
  EXPECT_EQ(alone("Rare.EachFiftiethCall"), "unconfirmed");
  EXPECT_EQ(alone("Rare.EachFiftiethCallUpToTen"), "pass");
}

// Six of them passed, and left one more each: as a ring of ten lines does.
TEST_P(GrowthTest, LeavesUnconfirmedWhatGrowsAndCannotBeRepeatedForLonger) {
  EXPECT_EQ(VerdictOf("Failing.InTheTenthRepetition"), "unconfirmed");
  EXPECT_THAT(Reasons("Failing.InTheTenthRepetition"),
              Contains("in 6 repetitions it grew by 5 blocks, 500 B; for longer, it did not pass "
                       "when run alone, in repetition 10"));
}

TEST_P(GrowthTest, LeavesUnconfirmedWhatTheTimeDidNotShow) {
  const GatedRun& run = SharedRunByDefault({Fixture("growth"), "--gtest_filter=Slow.*"},
                                           {"--confirm-test-timeout", "5"});
  for (const char* const test : {"Slow.KeepsOneEachTime", "Slow.KeepsEachThirdCall"}) {
    EXPECT_EQ(run.Test(test)["verdict"], "unconfirmed") << run.Test(test);
    EXPECT_LT(UsersFindings(run.Test(test))[0]["series"].size(), 63U);
  }
}

class ResourceGrowthTest : public BothModes {
 protected:
  static const GatedRun& Run() {
    return SharedRunByDefault({Fixture("growth"), "--gtest_filter=Left*-LeftRunningForSeconds.*"},
                              {"--verbose"});
  }
  static std::string VerdictOf(const std::string& test) { return Run().Test(test)["verdict"]; }
  static std::vector<std::string> MetricsOver(const std::string& test) {
    std::vector<std::string> metrics;
    const nlohmann::json window = Run().Test(test);
    for (const nlohmann::json& violation : window["violations"]) {
      metrics.push_back(violation["metric"]);
    }
    return metrics;
  }
  static std::string Text() { return Run().command.standard_error; }
};

TEST_P(ResourceGrowthTest, FailsDescriptorsThatEachRepetitionLeavesOpen) {
  for (const char* const test :
       {"AFile", "APairOfSockets", "AnEpoll", "ADirectory", "BetweenOthers", "AHundred"}) {
    const std::string name = std::string("LeftOpen.") + test;
    EXPECT_EQ(VerdictOf(name), "over_budget") << name;
    EXPECT_THAT(MetricsOver(name), Contains("steady_file_descriptors")) << name;
  }
}

TEST_P(ResourceGrowthTest, TellsTheDescriptorsAndTheRemedy) {
  EXPECT_THAT(Text(), HasSubstr("2 file descriptors left open, growing each time"));
  EXPECT_THAT(Text(), HasSubstr(R"("limits": { "test": { "file_descriptors": 2 } })"));
  EXPECT_THAT(Run().Test("LeftOpen.AFile")["left_behind"].dump(), HasSubstr(": /dev/null"));
  EXPECT_THAT(Run().Test("LeftOpen.APairOfSockets")["left_behind"].dump(), HasSubstr(": socket:"));
}

TEST_P(ResourceGrowthTest, PassesDescriptorsThatDoNotGrow) {
  for (const char* const test :
       {"LeftOpen.OnceOnly", "LeftOpen.EightAtMost", "LeftOpen.UntilAThreadClosesIt",
        "LeftOpen.UntilTheNextCall", "LeftOpenBySuite.IsNotTheTests"}) {
    EXPECT_EQ(VerdictOf(test), "pass") << Run().Test(test);
  }
}

TEST_P(ResourceGrowthTest, FailsThreadsThatEachRepetitionLeavesRunning) {
  for (const char* const test : {"LeftRunning.AThread", "LeftRunning.AThreadThatSleepsAndWakes"}) {
    EXPECT_EQ(VerdictOf(test), "over_budget") << test;
    EXPECT_THAT(MetricsOver(test), Contains("steady_threads")) << test;
  }
  EXPECT_THAT(MetricsOver("LeftRunning.AThread"), ElementsAre("steady_threads"));
  EXPECT_THAT(Text(), HasSubstr("1 thread left running, growing each time"));
  EXPECT_THAT(Text(), HasSubstr("in 64 repetitions it grew by 63 threads"));
}

TEST_P(ResourceGrowthTest, PassesThreadsThatEndOrDoNotGrow) {
  for (const char* const test :
       {"APoolOfFour", "OneMoreUpToFour", "AMomentLonger", "AFutureThatIsTaken"}) {
    const std::string name = std::string("LeftRunning.") + test;
    EXPECT_EQ(VerdictOf(name), "pass") << Run().Test(name);
  }
  // How many there are at a time hangs on how fast the machine is.
  const std::string longer = "LeftRunning.HalfASecondLonger";
  EXPECT_NE(VerdictOf(longer), "over_budget") << Run().Test(longer);
}

TEST_P(ResourceGrowthTest, PassesThreadsThatEndInAPauseWithWhatTheyHold) {
  const std::string test = "LeftRunningForSeconds.WithABlock";
  const GatedRun run =
      RunByDefault({Fixture("growth"), "--gtest_filter=" + test}, {"--confirm-wait", "6"});
  // On a busy machine some may end before the pause, and then it is unconfirmed.
  EXPECT_NE(run.Test(test)["verdict"], "over_budget") << run.Test(test);
}

TEST_P(ResourceGrowthTest, FailsMappingsThatGrow) {
  for (const char* const test : {"AMiB", "MuchThatIsUsed", "AFile", "OneThatGrows"}) {
    const std::string name = std::string("LeftMapped.") + test;
    EXPECT_EQ(VerdictOf(name), "over_budget") << Run().Test(name);
    EXPECT_THAT(MetricsOver(name), Contains("steady_mapped_bytes")) << name;
  }
  EXPECT_THAT(Text(), HasSubstr("1.0 MiB in 1 mapping retained, growing each time"));
  EXPECT_THAT(Text(), HasSubstr("mappings, "));
}

TEST_P(ResourceGrowthTest, PassesMappingsThatDoNotGrow) {
  for (const char* const test :
       {"LeftMapped.OneOnce", "LeftMapped.OneThatIsReplaced", "LeftMapped.EightAtMost",
        "LeftMapped.ALibrary", "LeftMappedBySuite.UntilItsEnd"}) {
    EXPECT_EQ(VerdictOf(test), "pass") << Run().Test(test);
  }
}

TEST_P(ResourceGrowthTest, LeavesMappingsUnconfirmedThatCannotBeRepeated) {
  EXPECT_EQ(VerdictOf("LeftMapped.UntilTheProcessDies"), "unconfirmed");
  EXPECT_THAT(std::string(Run().Test("LeftMapped.UntilTheProcessDies")["reason"]),
              HasSubstr("1.0 MiB in 1 mapping retained by"));
}

TEST_P(ResourceGrowthTest, LeavesThreadsAndDescriptorsAloneWhereNothingIsRepeated) {
  const GatedRun run = RunByDefault({Fixture("growth"),
                                     "--gtest_filter=LeftOpen.AFile:"
                                     "LeftRunning.AThread:LeftMapped.AMiB"},
                                    {"--confirm", "off"});
  EXPECT_EQ(run.Test("LeftOpen.AFile")["verdict"], "pass");
  EXPECT_EQ(run.Test("LeftRunning.AThread")["verdict"], "pass");
  EXPECT_EQ(run.Test("LeftMapped.AMiB")["verdict"], "unconfirmed");
}

LEAKGATE_IN_BOTH_MODES(ResourceGrowthTest);
LEAKGATE_IN_BOTH_MODES(GrowthTest);

// What a static variable's initialiser makes is built once, by the language's rule.
class StaticsTest : public testing::TestWithParam<const char*> {
 protected:
  static nlohmann::json Test(const std::string& name) {
    return SharedRunByDefault({FixturePath(GetParam())}).Test(name);
  }
};

TEST_P(StaticsTest, PassWithoutARepetition) {
  for (const std::string test :
       {"Static.KeepsWhatItsInitialiserMakes", "Static.KeepsWhatItsConstructorMakesInALock"}) {
    const nlohmann::json window = Test(test);
    EXPECT_EQ(window["verdict"], "pass") << test;
    ASSERT_FALSE(UsersFindings(window).empty());
    for (const nlohmann::json& finding : UsersFindings(window)) {
      EXPECT_EQ(finding["disposition"], "one_time");
      EXPECT_FALSE(finding.contains("series"));
    }
  }
}

TEST_P(StaticsTest, AreNamedBySymbolsAloneUnlessAllIsAskedFor) {
  const std::string test = "Static.KeepsWhatItsInitialiserMakes";
  for (const bool asks : {false, true}) {
    const GatedRun run =
        RunByDefault({FixturePath(GetParam()), "--gtest_filter=" + test},
                     asks ? std::vector<std::string>{"--verbose"} : std::vector<std::string>());
    ASSERT_FALSE(UsersFindings(run.Test(test)).empty());
    const std::string finding = UsersFindings(run.Test(test)).front().dump();
    EXPECT_THAT(finding, HasSubstr("KeepsWhatItsInitialiserMakes"));
    EXPECT_EQ(finding.find("statics.cpp") != std::string::npos, asks) << finding;
  }
}

TEST_P(StaticsTest, FailForWhatTheyLose) {
  EXPECT_EQ(Test("Static.LosesABlockInItsInitialiser")["lost"]["bytes"], 100);
  const nlohmann::json window = Test("Lost.LaterWhatAnInitialiserMade");
  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(window["lost"]["bytes"], 100);
  // No other test has thrown out of an initialiser.
  const GatedRun alone = RunByDefault({FixturePath(GetParam()), "--gtest_filter=Lost.*"});
  EXPECT_EQ(alone.Test("Lost.LaterWhatAnInitialiserMade")["lost"]["bytes"], 100);
  EXPECT_THAT(alone.command.standard_error, HasSubstr("statics.cpp"));
}

TEST_P(StaticsTest, FailForWhatGrowsOnceAJumpHasLeftTheInitialiser) {
  const std::string test = "Static.KeepsABlockEachTimeOnceAJumpHasLeftAnInitialiser";
  const GatedRun alone = RunByDefault({FixturePath(GetParam()), "--gtest_filter=" + test});
  EXPECT_EQ(alone.Test(test)["verdict"], "over_budget");
}

TEST_P(StaticsTest, FailForWhatGrowsBesideTheInitialiser) {
  for (const std::string test : {"Static.GrowsOnceItIsThere", "Static.KeepsABlockAndThrowsEachTime",
                                 "Static.StartsAThreadThatKeepsABlockEachTime",
                                 "Static.OfALibraryThatIsLoadedAnewEachTime"}) {
    const nlohmann::json window = Test(test);
    EXPECT_EQ(window["verdict"], "over_budget") << test;
    EXPECT_THAT(TextsOf(window, "disposition"), Contains("steady"));
  }
}

// There may be many flags, so repetitions tell whether it is made once.
TEST_P(StaticsTest, PassForWhatCallOnceMakesByARepetition) {
  const std::string test = "Once.KeepsWhatItsCallableMakes";
  const nlohmann::json window =
      RunByDefault({FixturePath(GetParam()), "--gtest_filter=" + test}).Test(test);
  EXPECT_EQ(window["verdict"], "pass");
  ASSERT_FALSE(UsersFindings(window).empty());
  EXPECT_EQ(UsersFindings(window).front()["disposition"], "one_time");
  EXPECT_TRUE(UsersFindings(window).front().contains("series"));
}

TEST_P(StaticsTest, FailForWhatIsMadeOnceForEachOfManyFlags) {
  for (const std::string test :
       {"Once.OfAnArrayOfFlagsKeepsABlockEachTime", "Once.OfAnObjectKeepsABlockEachTime",
        "Once.OfAnObjectOnTheHeapKeepsABlockEachTime", "Once.ThrowsAndKeepsABlockEachTime",
        "Once.IsSetBackAndKeepsABlockEachTime"}) {
    const GatedRun alone = RunByDefault({FixturePath(GetParam()), "--gtest_filter=" + test});
    EXPECT_EQ(alone.Test(test)["verdict"], "over_budget") << test;
  }
}

INSTANTIATE_TEST_SUITE_P(, StaticsTest,
                         testing::Values("statics_untouched", "statics_listener", "static_main"));

}  // namespace
}  // namespace leakgate::test
