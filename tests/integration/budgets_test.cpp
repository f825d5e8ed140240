// Budget files, end to end.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class BudgetsTest : public BothModes {
 protected:
  // Runs `filter` under one budget file of these limits.
  GatedRun RunWithin(const std::string& limits, const std::string& filter,
                     const std::string& more = "") {
    const std::string budget =
        directory_.Write("a.leakgate.json", "{\n\"component\": \"a\",\n\"limits\": {\n" + limits +
                                                "\n}" + more + "\n}\n");
    return RunTests("budgeted", filter, {"--budgets", budget});
  }
  std::string TestVerdict(const std::string& limits) {
    return RunWithin("\"test\": " + limits, "Net.Leaks100Bytes")
        .Test("Net.Leaks100Bytes")["verdict"];
  }
  TemporaryDirectory directory_;
};

TEST_P(BudgetsTest, TestAtItsLimitPasses) {
  EXPECT_EQ(TestVerdict(R"({"outstanding": {"bytes": 100, "blocks": 1}})"), "pass");
}

TEST_P(BudgetsTest, TestOneByteOverItsLimitFails) {
  EXPECT_EQ(TestVerdict(R"({"outstanding": {"bytes": 99, "blocks": 1}})"), "over_budget");
}

TEST_P(BudgetsTest, TestOneBlockOverItsLimitFails) {
  EXPECT_EQ(TestVerdict(R"({"outstanding": {"bytes": 100, "blocks": 0}})"), "over_budget");
}

TEST_P(BudgetsTest, SizeWithAUnitIsALimit) {
  EXPECT_EQ(TestVerdict(R"({"outstanding": {"bytes": "1 KiB"}})"), "pass");
}

TEST_P(BudgetsTest, FailureNamesTheFileAndLineOfTheLimit) {
  const GatedRun run =
      RunWithin("\"test\": {\"outstanding\":\n{\"bytes\": 99}}", "Net.Leaks100Bytes");
  const std::string& text = IsListener() ? run.command.standard_output : run.command.standard_error;

  EXPECT_THAT(text, HasSubstr("a.leakgate.json:5"));
  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["violations"][0]["line"], 5);
}

// The suite and the program lose blocks of their own.
TEST_P(BudgetsTest, PassWithinALimitExitsWithNothing) {
  EXPECT_EQ(RunWithin(R"("test": {"outstanding": {"bytes": 100}},
                         "suite": {"outstanding": {"bytes": 300}},
                         "program": {"outstanding": {"bytes": 500}})",
                      "Net.Leaks100Bytes")
                .command.exit_code,
            0);
}

TEST_P(BudgetsTest, OverrideReplacesTheLimitOfItsTests) {
  const GatedRun run =
      RunWithin(R"("test": {"outstanding": {"bytes": 0}})", "Net.Leaks*",
                R"(, "overrides": [{"tests": ["Net.Leaks100Bytes"], "reason": "keeps a socket",
          "limits": {"test": {"outstanding": {"bytes": 100}}}}])");

  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["verdict"], "pass");
  EXPECT_EQ(run.Test("Net.LeaksTwoBlocksOf8Bytes")["verdict"], "over_budget");
}

TEST_P(BudgetsTest, GrowthLimitPassesAReplacement) {
  const GatedRun run =
      RunWithin(R"("test": {"outstanding": {"bytes": 64}, "growth": {"bytes": 0, "blocks": 0}})",
                "Disk.*ens");

  EXPECT_EQ(run.Test("Disk.Opens")["violations"][0]["metric"], "growth_bytes");
  EXPECT_EQ(run.Test("Disk.Reopens")["verdict"], "pass");
}

TEST_P(BudgetsTest, GrowthLimitLeavesTheFrameworksOwnOut) {
  const std::string budget = directory_.Write(
      "a.leakgate.json",
      R"({"component": "a", "limits": {"test": {"growth": {"bytes": 0, "blocks": 0}}}})");
  const GatedRun run = RunTests("framework", "Framework.Succeed", {"--budgets", budget});

  EXPECT_GT(run.Test("Framework.Succeed")["framework"]["blocks"], 0);
  EXPECT_EQ(run.Test("Framework.Succeed")["verdict"], "pass");
}

TEST_P(BudgetsTest, SuiteAtItsLimitPasses) {
  const GatedRun run = RunWithin(R"("suite": {"outstanding": {"bytes": 300}})", "Net.WritesAFile");
  EXPECT_EQ(run.Window("suite", "Net")["verdict"], "pass");
  EXPECT_EQ(run.command.exit_code, 0);
}

TEST_P(BudgetsTest, SuiteOverItsLimitFailsTheRun) {
  const GatedRun run = RunWithin(R"("suite": {"outstanding": {"bytes": 299}})", "Net.WritesAFile");
  EXPECT_EQ(run.Window("suite", "Net")["verdict"], "over_budget");
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(BudgetsTest, ProgramAtItsLimitPasses) {
  const GatedRun run =
      RunWithin(R"("program": {"outstanding": {"bytes": 500, "blocks": 1}})", "Net.WritesAFile");
  EXPECT_EQ(run.Window("program", "budgeted_" + GetParam())["verdict"], "pass");
}

TEST_P(BudgetsTest, ProgramOverItsLimitFailsTheRun) {
  const GatedRun run =
      RunWithin(R"("program": {"outstanding": {"bytes": 499}})", "Net.WritesAFile");
  EXPECT_EQ(run.Window("program", "budgeted_" + GetParam())["verdict"], "over_budget");
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(BudgetsTest, BudgetOfOtherBinariesDoesNotApply) {
  const GatedRun run = RunWithin(R"("test": {"outstanding": {"bytes": 100}})", "Net.Leaks100Bytes",
                                 R"(, "binaries": ["disk_*"])");
  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["component"], nullptr);
}

TEST_P(BudgetsTest, BudgetOfThisBinaryApplies) {
  const GatedRun run = RunWithin(R"("test": {"outstanding": {"bytes": 100}})", "Net.Leaks100Bytes",
                                 R"(, "binaries": ["budget*"])");
  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["component"], "a");
}

TEST_P(BudgetsTest, FileNearestToTheTestWins) {
  const GatedRun run = RunTests("budgeted", "*.Leaks100Bytes",
                                {"--budgets", LEAKGATE_SOURCE_DIR "/tests/fixtures/budgets"});

  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["component"], "net");
  EXPECT_EQ(run.Test("Net.Leaks100Bytes")["verdict"], "pass");
  EXPECT_EQ(run.Test("Disk.Leaks100Bytes")["component"], "all");
  EXPECT_EQ(run.Test("Disk.Leaks100Bytes")["verdict"], "over_budget");
}

LEAKGATE_IN_BOTH_MODES(BudgetsTest);

// A run that ends before any test: nothing was written by one.
class BudgetErrorsTest : public BothModes {
 protected:
  void Run(const std::vector<std::string>& options) {
    run_ = RunGated({Fixture("budgeted")}, options, {.environment = {"FIXTURE_FILE=" + ran_}});
  }
  TemporaryDirectory directory_;
  const std::string ran_ = directory_.File("ran");
  GatedRun run_;
};

TEST_P(BudgetErrorsTest, BadFileEndsTheRunBeforeAnyTest) {
  const std::string budget =
      directory_.Write("a.leakgate.json", "{\"component\": \"a\",\n \"limit\": {}}\n");
  Run({"--budgets", budget});

  EXPECT_EQ(run_.command.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(ran_));
  EXPECT_EQ(run_.command.standard_output, "");
}

TEST_P(BudgetErrorsTest, BadFileIsToldInOneLineWithFileLineKeyAndRemedy) {
  const std::string budget =
      directory_.Write("a.leakgate.json", "{\"component\": \"a\",\n \"limit\": {}}\n");
  Run({"--budgets", budget});

  const std::string& text = run_.command.standard_error;
  EXPECT_THAT(text, StartsWith("leakgate: " + budget + ":2:2: "));
  EXPECT_THAT(text, HasSubstr("\"limit\"; did you mean \"limits\"?"));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST_P(BudgetErrorsTest, TwoFilesAtOneDepthThatClaimATestEndTheRun) {
  directory_.Write("budgets/a.leakgate.json", R"({"component": "a"})");
  directory_.Write("budgets/b.leakgate.json", R"({"component": "b"})");
  Run({"--budgets", directory_.File("budgets")});

  EXPECT_EQ(run_.command.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(ran_));
  EXPECT_THAT(run_.command.standard_error, HasSubstr("both cover"));
}

TEST_P(BudgetErrorsTest, FilesThatClaimDifferentTestsDoNotConflict) {
  directory_.Write("budgets/a.leakgate.json", R"({"component": "a", "tests": ["Net.*"]})");
  directory_.Write("budgets/b.leakgate.json", R"({"component": "b", "tests": ["Disk.*"]})");
  Run({"--budgets", directory_.File("budgets")});

  EXPECT_EQ(run_.Test("Net.Leaks100Bytes")["component"], "a");
  EXPECT_EQ(run_.Test("Disk.Leaks100Bytes")["component"], "b");
}

LEAKGATE_IN_BOTH_MODES(BudgetErrorsTest);

}  // namespace
}  // namespace leakgate::test
