// Retained blocks are confirmed by repeating the test, or stay unconfirmed and say
// why.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Options = std::vector<std::string>;

class ConfirmationTest : public BothModes {
 protected:
  static GatedRun Run(const std::string& test, const Options& options = {},
                      const Options& environment = {}) {
    return RunByDefault({Fixture("policy"), "--gtest_filter=Repeated." + test}, options,
                        {.environment = environment});
  }
  static void ExpectUnconfirmed(const GatedRun& run, const std::string& test,
                                const std::string& why) {
    const nlohmann::json window = run.Test("Repeated." + test);
    EXPECT_EQ(window["verdict"], "unconfirmed");
    EXPECT_THAT(window.value("reason", ""), HasSubstr(why));
    EXPECT_THAT(TextsOf(window, "disposition"), Contains("unconfirmed"));
    EXPECT_THAT(run.command.standard_error, HasSubstr(why));
    EXPECT_EQ(run.command.exit_code, 0);
  }
};

// Held at the test's end, lost by the suite's tear-down: each block has one fate, the last.
TEST_P(ConfirmationTest, WhatIsLostLaterIsNeitherHeldNorRepeated) {
  const GatedRun run = RunByDefault({Fixture("fates")});
  EXPECT_EQ(run.command.exit_code, 1);
  for (const char* const test : {"Late.LosesEachTime", "Late.LosesOnce"}) {
    const nlohmann::json window = run.Test(test);
    EXPECT_EQ(window["verdict"], "over_budget") << test;
    for (const nlohmann::json& finding : UsersFindings(window)) {
      if (finding.value("reach", "") != "lost") continue;
      EXPECT_FALSE(finding.contains("holder")) << finding;
      EXPECT_FALSE(finding.contains("series")) << finding;
      EXPECT_EQ(finding["disposition"], "outstanding");
    }
  }
  EXPECT_THAT(TextsOf(run.Test("Late.LosesOnce"), "reach"), Contains("lost"));
  EXPECT_EQ(run.Test("Clean.HoldsUntilTheTearDown")["verdict"], "pass");
  EXPECT_THAT(run.command.standard_error, Not(HasSubstr("lost, held by")));
  EXPECT_THAT(run.command.standard_error, Not(HasSubstr("not counted: 80 B")));
}

TEST_P(ConfirmationTest, ADoubleFreeThatEndsTheProgramIsTold) {
  const TemporaryDirectory directory;
  const std::string junit = directory.File("junit.xml");
  const GatedRun run = RunByDefault(
      {Fixture("fates"), "--gtest_filter=*FreesABlock", "--gtest_also_run_disabled_tests"},
      {"--report", "junit=" + junit});
  EXPECT_EQ(run.command.exit_code, 128 + SIGABRT);
  EXPECT_EQ(run.Test("DISABLED_Twice.FreesABlock")["verdict"], "over_budget");
  EXPECT_THAT(run.command.standard_error, HasSubstr("freed twice, by free()"));
  EXPECT_THAT(ReadFile(junit), HasSubstr("freed twice, by free()"));
  EXPECT_THAT(ReadFile(junit), HasSubstr("The program ended while the test ran."));
}

TEST_P(ConfirmationTest, WhatGrowsEachTimeFailsTheRunAfterTheProgram) {
  const GatedRun run = Run("LeavesOneEachTime");
  const nlohmann::json window = run.Test("Repeated.LeavesOneEachTime");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(window["test_result"], "passed");
  EXPECT_THAT(TextsOf(window, "disposition"), Contains("steady"));
  EXPECT_EQ(run.report["program"]["exit_code"], 0);
  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(run.command.standard_error, HasSubstr("retained, grows by 1 block each time (in "));
}

TEST_P(ConfirmationTest, WhatIsMadeOncePasses) {
  const GatedRun run = Run("LeavesOneOnce");
  const nlohmann::json window = run.Test("Repeated.LeavesOneOnce");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_THAT(UsersFindings(window)[0]["series"], testing::Each(0));
  EXPECT_GE(UsersFindings(window)[0]["series"].size(), 5U);
  EXPECT_EQ(run.command.exit_code, 0);
}

// gmock, too, keeps a block for each mock that is made on that line.
TEST_P(ConfirmationTest, CountsNoneOfTheFrameworksBlocksOnTheSameLine) {
  const nlohmann::json window =
      RunByDefault({Fixture("noise"), "--gtest_filter=Leak.UnusedMock"}).Test("Leak.UnusedMock");

  EXPECT_EQ(UsersFindings(window)[0]["series"], nlohmann::json(std::vector<int>(63, 1)));
}

TEST_P(ConfirmationTest, InlineFailsTheTestInsideGoogleTestForTheListener) {
  const TemporaryDirectory directory;
  const std::string xml = directory.File("out.xml");
  const GatedRun run = RunByDefault(
      {Fixture("policy"), "--gtest_filter=Repeated.LeavesOneEachTime", "--gtest_output=xml:" + xml},
      {"--confirm=inline"});

  EXPECT_EQ(run.Test("Repeated.LeavesOneEachTime")["verdict"], "over_budget");
  EXPECT_THAT(ReadFile(xml), HasSubstr(IsListener() ? "failures=\"1\"" : "failures=\"0\""));
  EXPECT_EQ(run.report["program"]["exit_code"], IsListener() ? 1 : 0);
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(ConfirmationTest, InlinePassesWhatIsMadeOnce) {
  EXPECT_EQ(Run("LeavesOneOnce", {"--confirm=inline"}).Test("Repeated.LeavesOneOnce")["verdict"],
            "pass");
}

TEST_P(ConfirmationTest, OffLeavesItUnconfirmed) {
  ExpectUnconfirmed(Run("LeavesOneEachTime", {"--confirm=off"}), "LeavesOneEachTime",
                    "confirmation is off");
}

TEST_P(ConfirmationTest, FileMaySayWhen) {
  const TemporaryDirectory directory;
  const std::string budget =
      directory.Write("a.leakgate.json", R"({"component": "a", "confirm": "off"})");
  const GatedRun run = Run("LeavesOneEachTime", {"--budgets", budget});

  EXPECT_EQ(run.Test("Repeated.LeavesOneEachTime")["verdict"], "unconfirmed");
}

TEST_P(ConfirmationTest, StrictFailsWhatIsUnconfirmed) {
  const GatedRun run = Run("LeavesOneEachTime", {"--confirm=off", "--strict"});

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(run.report["verdict"], "failed");
  EXPECT_THAT(run.command.standard_error, HasSubstr("--strict"));
}

TEST_P(ConfirmationTest, WarnOnlyFailsNothingAndSaysSo) {
  const GatedRun run =
      RunByDefault({Fixture("policy"), "--gtest_filter=Reach.LosesAChain"}, {"--warn-only"});

  EXPECT_EQ(run.Test("Reach.LosesAChain")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Reach.LosesAChain")["test_result"], "passed");
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_THAT(run.command.standard_error, HasSubstr("this run gates nothing"));
}

TEST_P(ConfirmationTest, SaysThatTheRepetitionsWereKilled) {
  ExpectUnconfirmed(Run("Aborts"), "Aborts", "it did not pass when run alone, in repetition 2");
}

TEST_P(ConfirmationTest, SaysThatARepetitionFailed) {
  ExpectUnconfirmed(Run("Fails"), "Fails", "it did not pass when run alone, in repetition 2");
}

TEST_P(ConfirmationTest, SaysThatTheRepetitionsTookTooLong) {
  ExpectUnconfirmed(Run("Hangs", {"--confirm-test-timeout", "1"}), "Hangs",
                    "its repetitions took longer than 1 s");
}

TEST_P(ConfirmationTest, SpendsNoMoreThanTheRunsTimeOnAll) {
  const GatedRun run =
      RunByDefault({Fixture("policy"), "--gtest_filter=Repeated.LeavesOneEachTime:Repeated.Hangs"},
                   {"--confirm-run-timeout", "0.6"});

  EXPECT_EQ(run.Test("Repeated.LeavesOneEachTime")["verdict"], "unconfirmed");
  EXPECT_EQ(run.Test("Repeated.Hangs")["verdict"], "unconfirmed");
  EXPECT_LT(run.report["confirming_seconds"], 30.0);  // one test alone may take 60
}

TEST_P(ConfirmationTest, FailsAtOnceForWhatEachRepetitionLoses) {
  const GatedRun run = Run("LosesTheOneBefore:Repeated.KeepsTheOnesBefore");
  const nlohmann::json loses = run.Test("Repeated.LosesTheOneBefore");
  EXPECT_EQ(loses["verdict"], "over_budget") << loses;
  const nlohmann::json lost = UsersFindings(loses)[0];
  EXPECT_EQ(lost["disposition"], "steady");
  EXPECT_THAT(lost.value("explanation", ""), HasSubstr("each loses what the one before had made"));
  EXPECT_LT(lost["series"].size(), 63U);
  const nlohmann::json keeps = run.Test("Repeated.KeepsTheOnesBefore");
  EXPECT_EQ(keeps["verdict"], "over_budget") << keeps;
  EXPECT_EQ(UsersFindings(keeps)[0]["series"].size(), 63U);
}

TEST_P(ConfirmationTest, RepeatsTestsOfAProgramThatCrashedLater) {
  const GatedRun run = Run("LeavesOneEachTime:Ends.ByAbort");
  const nlohmann::json window = run.Test("Repeated.LeavesOneEachTime");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(UsersFindings(window)[0]["series"], nlohmann::json(std::vector<int>(63, 1)));
  EXPECT_EQ(run.command.exit_code, 128 + SIGABRT);
}

TEST_P(ConfirmationTest, RepeatsNoTestOfAProgramThatWasToldToEnd) {
  const GatedRun run = Run("LeavesOneEachTime:Ends.WhenTold");
  const nlohmann::json window = run.Test("Repeated.LeavesOneEachTime");

  EXPECT_EQ(window["verdict"], "unconfirmed");
  EXPECT_THAT(window.value("reason", ""),
              HasSubstr("the program was killed by signal 15 (SIGTERM)"));
  EXPECT_EQ(run.command.exit_code, 128 + SIGTERM);
}

TEST_P(ConfirmationTest, RepetitionsSeeNoneOfTheUsersTestVariables) {
  const TemporaryDirectory directory;
  const TemporaryDirectory scratch;
  const std::string told = directory.File("told");
  const std::string xml = directory.File("out.xml");
  const GatedRun run =
      Run("TellsItsEnvironment", {},
          {"FIXTURE_FILE=" + told, "GTEST_TOTAL_SHARDS=1", "GTEST_SHARD_INDEX=0",
           "GTEST_OUTPUT=xml:" + xml, "XML_OUTPUT_FILE=" + xml, "TEST_TMPDIR=" + scratch.path()});
  const std::string text = ReadFile(told);
  const std::size_t second = text.find('\n', text.find("TEST_TMPDIR ")) + 1;

  EXPECT_EQ(run.Test("Repeated.TellsItsEnvironment")["verdict"], "over_budget");
  EXPECT_THAT(text.substr(second), StartsWith("GTEST_TOTAL_SHARDS unset\nGTEST_OUTPUT unset\n"
                                              "XML_OUTPUT_FILE unset\nTEST_TMPDIR " +
                                              scratch.path() + "/leakgate-"));
  EXPECT_THAT(ReadFile(xml), HasSubstr("tests=\"1\""));
}

TEST_P(ConfirmationTest, RemovesTheScratchDirectoryOfTheRepetitions) {
  const TemporaryDirectory directory;
  const TemporaryDirectory scratch;
  Run("TellsItsEnvironment", {},
      {"FIXTURE_FILE=" + directory.File("told"), "TEST_TMPDIR=" + scratch.path()});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ElementsAre("left"));  // by the program's own run
}

// Returns the run of Together's `tests`, and how many processes it took.
std::pair<GatedRun, std::size_t> RunTogether(const std::string& program, const std::string& tests) {
  const TemporaryDirectory directory;
  const std::string processes = directory.File("processes");
  GatedRun run = RunByDefault({program, "--gtest_filter=" + tests}, {},
                              {.environment = {"FIXTURE_PROCESSES=" + processes}});
  return {std::move(run), ReadFile(processes).size()};
}

TEST_P(ConfirmationTest, QuickTestsAreRepeatedInOneProcess) {
  const auto [run, processes] = RunTogether(Fixture("policy"), "Together.Makes*");
  for (const char* const test : {"Together.MakesOne", "Together.MakesAnother"}) {
    const nlohmann::json window = run.Test(test);
    EXPECT_EQ(window["verdict"], "pass");
    EXPECT_EQ(UsersFindings(window)[0]["disposition"], "one_time");
    EXPECT_EQ(UsersFindings(window)[0]["series"], nlohmann::json(std::vector<int>(19, 0)));
  }
  EXPECT_EQ(processes, 2U);
}

TEST_P(ConfirmationTest, AQuickTestThatGrowsFailsBesideOthers) {
  const auto [run, processes] =
      RunTogether(Fixture("policy"), "Together.Makes*:Together.LeavesOneEachTime");
  EXPECT_EQ(run.Test("Together.LeavesOneEachTime")["verdict"], "over_budget");
  EXPECT_EQ(UsersFindings(run.Test("Together.LeavesOneEachTime"))[0]["series"],
            nlohmann::json(std::vector<int>(63, 1)));
  EXPECT_EQ(run.Test("Together.MakesOne")["verdict"], "pass");
  // The run, all together, and the one that grows: short, long, and with pauses.
  EXPECT_EQ(processes, 5U);
}

TEST_P(ConfirmationTest, WhatOneTestHandsOnToAnotherIsRepeatedAlone) {
  const auto [run, processes] =
      RunTogether(Fixture("policy"), "Together.HandsOn:Together.TakesOver");
  EXPECT_EQ(run.Test("Together.HandsOn")["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(run.Test("Together.HandsOn"), "disposition"), Contains("steady"));
  EXPECT_EQ(run.Test("Together.TakesOver")["verdict"], "pass");
}

TEST_P(ConfirmationTest, ATestThatCannotBeRepeatedLeavesOthersAsTheyAre) {
  const auto [run, processes] =
      RunTogether(Fixture("policy"), "Together.Makes*:Together.CannotBeRepeated");
  EXPECT_EQ(run.Test("Together.MakesOne")["verdict"], "pass");
  EXPECT_EQ(run.Test("Together.MakesAnother")["verdict"], "pass");
  EXPECT_EQ(run.Test("Together.CannotBeRepeated")["verdict"], "unconfirmed");
}

TEST_P(ConfirmationTest, ThreadsOfSlowTestsPassWithTheSecondRepetition) {
  const GatedRun run = RunByDefault({Fixture("policy"), "--gtest_filter=Slow.*"},
                                    {"--confirm-test-timeout", "8", "--confirm-time", "60"});
  const nlohmann::json flat = std::vector<int>{0};
  const nlohmann::json once = run.Test("Slow.StartsAThreadOnce");
  ASSERT_EQ(once["verdict"], "pass") << once;
  EXPECT_EQ(once["mappings"][0]["series"], flat);
  EXPECT_EQ(UsersFindings(once)[0]["series"], flat);

  // Which of both depends on how many repetitions the machine has time for.
  EXPECT_THAT(run.Test("Slow.StartsAThreadEachTime")["verdict"].get<std::string>(),
              AnyOf("unconfirmed", "over_budget"));
  EXPECT_GE(run.Test("Slow.StartsAThreadEachTime")["mappings"][0]["series"].size(), 5U);
  // What is no thread's has six.
  EXPECT_EQ(UsersFindings(run.Test("Slow.MakesOneOnce"))[0]["series"],
            nlohmann::json(std::vector<int>(5, 0)));
  // What comes and goes has eight.
  const nlohmann::json by_turns = run.Test("Slow.KeepsOneByTurns");
  EXPECT_EQ(by_turns["verdict"], "pass") << by_turns;
  EXPECT_EQ(UsersFindings(by_turns)[0]["series"], nlohmann::json({-1, 1, -1, 1, -1, 1, -1}));
}

TEST_P(ConfirmationTest, SpendsTheTimeOfWhatDoesNotGrowOnFewerRepetitions) {
  const GatedRun run =
      RunByDefault({Fixture("policy"), "--gtest_filter=Slow.M*:Slow.K*:Repeated.LeavesOneEachTime"},
                   {"--confirm-time", "0.1"});
  const nlohmann::json once = run.Test("Slow.MakesOneOnce");
  EXPECT_EQ(once["verdict"], "pass") << once;
  EXPECT_EQ(UsersFindings(once)[0]["series"], nlohmann::json(std::vector<int>{0}));
  const nlohmann::json by_turns = run.Test("Slow.KeepsOneByTurns");
  EXPECT_EQ(by_turns["verdict"], "unconfirmed") << by_turns;
  EXPECT_THAT(by_turns.value("reason", ""), HasSubstr("(--confirm-time)"));
  EXPECT_EQ(run.Test("Repeated.LeavesOneEachTime")["verdict"], "over_budget");
}

LEAKGATE_IN_BOTH_MODES(ConfirmationTest);

// It takes ten seconds to tell; a slow machine may not have the time.
TEST(ConfirmationOfSeldomGrowthTest, HasTheTimeThatItNeeds) {
  const GatedRun run =
      RunByDefault({FixturePath("policy_untouched"), "--gtest_filter=*.KeepsOneEachThirdTime"});
  const bool fails = run.Test("Repeated.KeepsOneEachThirdTime")["verdict"] == "over_budget";
  EXPECT_TRUE(fails || run.report["confirming_seconds"] > 8.0) << run.report;
}

TEST(ConfirmationUnderAnotherMainTest, SaysThatNoTestRan) {
  const GatedRun run = RunByDefault({FixturePath("filtering_main")});

  EXPECT_EQ(run.Test("Filtered.Leaks")["verdict"], "unconfirmed");
  EXPECT_THAT(run.command.standard_error, HasSubstr("no test ran when it was run alone"));
}

}  // namespace
}  // namespace leakgate::test
