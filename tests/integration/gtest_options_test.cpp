// GoogleTest's own options and environment variables work under leakgate, in
// both boundary modes.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAreArray;

std::vector<std::string> TestsOf(const GatedRun& run, int iteration = 1) {
  std::vector<std::string> names;
  for (const nlohmann::json& window : run.report["windows"]) {
    if (window["kind"] == "test" && window["iteration"] == iteration) {
      names.push_back(window["name"]);
    }
  }
  return names;
}

class GtestOptionsTest : public BothModes {
 protected:
  static GatedRun Run(const std::vector<std::string>& arguments,
                      const CommandOptions& options = {}) {
    std::vector<std::string> program = {Fixture("features")};
    program.insert(program.end(), arguments.begin(), arguments.end());
    return RunGated(program, {}, options);
  }
  static Outcome PlainLeak() {
    return OverBudget(
        {{100, 1, "malloc", "Plain_Leaks_Test::TestBody()", PlaceOf("features.cpp", "plain")}});
  }
};

TEST_P(GtestOptionsTest, FilterLeavesOneTest) {
  EXPECT_THAT(TestsOf(Run({"--gtest_filter=Plain.Leaks"})), ElementsAre("Plain.Leaks"));
}

TEST_P(GtestOptionsTest, AFilterThatChoosesNoneIsNoPass) {
  const std::vector<std::string> program = {Fixture("features"), "--gtest_filter=Renamed.*"};
  const GatedRun run = RunGated(program);
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("no test ran: --gtest_filter=Renamed.* chooses none"));
  EXPECT_EQ(RunGated(program, {"--allow-no-tests"}).command.exit_code, 0);
  EXPECT_EQ(RunGated(program, {"--skip-exit-code", "77"}).command.exit_code, 77);
  CommandOptions shard;
  shard.environment = {"GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=1"};
  EXPECT_EQ(RunGated(program, {}, shard).command.exit_code, 0);
}

TEST_P(GtestOptionsTest, RepeatOpensWindowsForEachIteration) {
  const GatedRun run = Run({"--gtest_filter=Plain.*", "--gtest_repeat=3"});
  for (const int iteration : {1, 2, 3}) {
    EXPECT_THAT(TestsOf(run, iteration), ElementsAre("Plain.Leaks", "Plain.Passes"));
    EXPECT_EQ(OutcomeOf(run.Test("Plain.Leaks", iteration)), PlainLeak());
    EXPECT_NE(run.Window("suite", "Plain", iteration), nullptr);
  }
}

TEST_P(GtestOptionsTest, ShuffleChargesTheSameTest) {
  const GatedRun run = Run({"--gtest_filter=Plain.*:*Named*", "--gtest_shuffle"});

  EXPECT_THAT(TestsOf(run),
              UnorderedElementsAreArray({"Plain.Leaks", "Plain.Passes", "By/Named.Leaks/Size11",
                                         "By/Named.Leaks/Size22", "Unnamed/Named.Leaks/0"}));
  EXPECT_EQ(OutcomeOf(run.Test("Plain.Leaks")), PlainLeak());
}

TEST_P(GtestOptionsTest, ShardsShareTheTests) {
  const TemporaryDirectory directory;
  std::vector<std::string> names;
  for (const std::string index : {"0", "1"}) {
    const GatedRun run =
        Run({"--gtest_filter=Plain.*"},
            {.environment = {"GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=" + index}});
    for (const std::string& name : TestsOf(run)) names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("Plain.Leaks", "Plain.Passes"));
}

TEST_P(GtestOptionsTest, WritesTheShardsStatusFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("status");
  Run({"--gtest_filter=Plain.Passes"},
      {.environment = {"GTEST_TOTAL_SHARDS=1", "GTEST_SHARD_INDEX=0",
                       "GTEST_SHARD_STATUS_FILE=" + file}});
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_P(GtestOptionsTest, ListsTestsAsWithoutLeakgate) {
  const std::vector<std::string> command = {Fixture("features"), "--gtest_list_tests"};
  const GatedRun run = RunGated(command);

  EXPECT_EQ(run.command.standard_output, RunCommand(command).standard_output);
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_THAT(TestsOf(run), ElementsAre());
}

TEST_P(GtestOptionsTest, BriefIsBrief) {
  EXPECT_THAT(Run({"--gtest_filter=Plain.Passes", "--gtest_brief"}).command.standard_output,
              Not(HasSubstr("[ RUN      ]")));
}

// What GoogleTest does is the processor's: a breakpoint, or a write to address 0.
int SignalOfABreak() {
  return RunCommand({FixturePath("features_untouched"), "--gtest_filter=Asserts.FailsWithoutALeak",
                     "--gtest_break_on_failure"})
      .signal;
}

TEST_P(GtestOptionsTest, BreakOnFailureStopsAtTheTestsOwnFailure) {
  const GatedRun run =
      Run({"--gtest_filter=Asserts.FailsWithoutALeak", "--gtest_break_on_failure"});

  EXPECT_EQ(run.report["program"]["signal"], SignalOfABreak()) << run.report["program"];
  EXPECT_EQ(run.Test("Asserts.FailsWithoutALeak")["test_result"], "crashed");
}

// Nothing catches what GoogleTest throws: the program aborts.
TEST_P(GtestOptionsTest, ThrowOnFailureEndsTheProgramAsWithoutLeakgate) {
  const std::vector<std::string> arguments = {"--gtest_filter=Asserts.FailsWithoutALeak",
                                              "--gtest_throw_on_failure"};
  const GatedRun run = Run(arguments);
  const CommandResult bare = RunCommand({Fixture("features"), arguments[0], arguments[1]});

  EXPECT_EQ(run.report["program"]["signal"], bare.signal);
  EXPECT_EQ(run.command.exit_code, 128 + bare.signal);
}

LEAKGATE_IN_BOTH_MODES(GtestOptionsTest);

// What only the listener can do: the failure is GoogleTest's own.
class ListenerOptionsTest : public testing::Test {
 protected:
  static GatedRun Run(const std::vector<std::string>& arguments) {
    std::vector<std::string> program = {FixturePath("features_listener")};
    program.insert(program.end(), arguments.begin(), arguments.end());
    return RunGated(program);
  }
};

TEST_F(ListenerOptionsTest, BreakOnFailureStopsAtALeak) {
  const GatedRun run = Run({"--gtest_filter=Plain.Leaks", "--gtest_break_on_failure"});
  EXPECT_EQ(run.report["program"]["signal"], SignalOfABreak());
}

TEST_F(ListenerOptionsTest, LeakFailsTheTestInGoogleTestsXml) {
  const TemporaryDirectory directory;
  const std::string xml = directory.File("out.xml");
  Run({"--gtest_filter=Plain.*", "--gtest_output=xml:" + xml});

  EXPECT_THAT(ReadFile(xml), HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(ReadFile(xml), HasSubstr("leakgate: 100 B in 1 block outstanding"));
}

TEST_F(ListenerOptionsTest, LeakFailsTheTestInGoogleTestsJson) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("out.json");
  Run({"--gtest_filter=Plain.Leaks", "--gtest_output=json:" + file});

  const nlohmann::json json = nlohmann::json::parse(ReadFile(file));
  const nlohmann::json& test = json["testsuites"][0]["testsuite"][0];
  EXPECT_EQ(json["failures"], 1);
  EXPECT_THAT(test["failures"][0]["failure"].get<std::string>(),
              HasSubstr("leakgate: 100 B in 1 block outstanding"));
}

TEST_F(ListenerOptionsTest, LeakMakesTheProgramItselfExitWithOne) {
  EXPECT_EQ(Run({"--gtest_filter=Plain.Leaks"}).report["program"]["exit_code"], 1);
}

TEST_F(ListenerOptionsTest, TellsEachResult) {
  const GatedRun run = Run({"--gtest_filter=Skipped*:Throws.*:Asserts.*:Plain.Passes"});
  EXPECT_EQ(run.Test("Skipped.InTheBody")["test_result"], "skipped");
  EXPECT_EQ(run.Test("SkippedInSetUp.NeverRuns")["test_result"], "skipped");
  EXPECT_EQ(run.Test("Throws.AfterALeak")["test_result"], "failed");
  EXPECT_EQ(run.Test("Asserts.FailsWithoutALeak")["test_result"], "failed");
  EXPECT_EQ(run.Test("Plain.Passes")["test_result"], "passed");
}

// The stream does not tell a skipped test from a failed one.
class StreamResultsTest : public testing::Test {
 protected:
  static GatedRun Run(const std::vector<std::string>& arguments) {
    std::vector<std::string> program = {
        FixturePath("features_untouched"),
        "--gtest_filter=Skipped.InTheBody:Asserts.FailsWithoutALeak:Plain.Passes"};
    program.insert(program.end(), arguments.begin(), arguments.end());
    return RunGated(program);
  }
  static void ExpectResults(const GatedRun& run, const std::string& skipped,
                            const std::string& failed) {
    EXPECT_EQ(run.Test("Skipped.InTheBody")["test_result"], skipped);
    EXPECT_EQ(run.Test("Asserts.FailsWithoutALeak")["test_result"], failed);
    EXPECT_EQ(run.Test("Plain.Passes")["test_result"], "passed");
  }
};

TEST_F(StreamResultsTest, AreNotPassedWithoutGoogleTestsOwnOutput) {
  ExpectResults(Run({}), "not_passed", "not_passed");
}

TEST_F(StreamResultsTest, WhereTheProgramPassesAreNoFailures) {
  const GatedRun run =
      RunGated({FixturePath("features_untouched"), "--gtest_filter=SkippedInSetUp.*:Plain.Passes"});
  EXPECT_EQ(run.Test("SkippedInSetUp.NeverRuns")["test_result"], "skipped");
  EXPECT_THAT(run.command.standard_error, HasSubstr("2 tests: 1 pass, 1 skipped;"));
}

TEST_F(StreamResultsTest, AreTakenFromGoogleTestsXml) {
  const TemporaryDirectory directory;
  ExpectResults(Run({"--gtest_output=xml:" + directory.File("out.xml")}), "skipped", "failed");
}

TEST_F(StreamResultsTest, AreTakenFromGoogleTestsJson) {
  const TemporaryDirectory directory;
  ExpectResults(Run({"--gtest_output=json:" + directory.File("out.json")}), "skipped", "failed");
}

}  // namespace
}  // namespace leakgate::test
