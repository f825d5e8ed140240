// `leakgate budget ...` and `leakgate explain`, end to end.
#include <gmock/gmock.h>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

const std::string kBudgeted = FixturePath("budgeted_untouched");

TEST(BudgetInitTest, WritesAFileUnderWhichTheProgramPasses) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("tests.leakgate.json");
  const CommandResult init =
      Leakgate({"budget", "init", "--component", "tests", "-o", file, "--", kBudgeted});
  EXPECT_EQ(init.exit_code, 0) << init.standard_error;
  EXPECT_THAT(ReadFile(file), HasSubstr("Net_Leaks100Bytes_Test::TestBody"));
  EXPECT_EQ(Leakgate({"budget", "check", file}).exit_code, 0);
  EXPECT_EQ(RunGated({kBudgeted}, {"--budgets", file}).command.exit_code, 0);
}

// Call sites within each other, lambdas, templates, a test whose frame went by a jump.
TEST(BudgetInitTest, WritesEntriesThatCoverTheirOwnCallSitesAndNoOther) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("tests.leakgate.json");
  const std::string program = FixturePath("call_sites_untouched");
  EXPECT_EQ(
      Leakgate({"budget", "init", "--component", "tests", "-o", file, "--", program}).exit_code, 0);
  const GatedRun run = RunGated({program}, {"--budgets", file, "--strict"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error << ReadFile(file);
  const std::string written = ReadFile(file);
  EXPECT_EQ(Leakgate({"budget", "ratchet", "--budgets", file, "--", program}).exit_code, 0);
  EXPECT_EQ(ReadFile(file), written);

  CommandOptions more;
  more.environment = {"LOSE_MORE=1"};
  const GatedRun with_more = RunGated({program}, {"--budgets", file}, more);
  EXPECT_EQ(with_more.Test("More.LosesInAnotherLambda")["verdict"], "over_budget");
  EXPECT_EQ(with_more.Test("More.LosesByAnotherJump")["verdict"], "over_budget");
}

TEST(BudgetInitTest, OverwritesNothing) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("tests.leakgate.json", "mine");
  EXPECT_EQ(
      Leakgate({"budget", "init", "--component", "tests", "-o", file, "--", kBudgeted}).exit_code,
      2);
  EXPECT_EQ(ReadFile(file), "mine");
}

constexpr const char* kLoose = R"({ "component": "tests",
  "limits": {"test": {"outstanding": {"bytes":   "1 MiB"}},
             "suite": {"outstanding": {"bytes": "1 MiB"}},
             "program": {"outstanding": {"bytes": "1 MiB"}}},
  "overrides": [{"tests": ["Net.Leaks100Bytes"], "reason": "keeps",
                 "limits": {"test": {"outstanding": {"bytes": "1 KiB"}}}}],
  "allowances": [{"stack": ["nobody"], "reason": "unused"}] })";

constexpr const char* kTight = R"({ "component": "tests",
  "limits": {"test": {"outstanding": {"bytes":   "1 MiB"}},
             "suite": {"outstanding": {"bytes": "1 MiB"}},
             "program": {"outstanding": {"bytes": "1 MiB"}}},
  "overrides": [{"tests": ["Net.Leaks100Bytes"], "reason": "keeps",
                 "limits": {"test": {"outstanding": {"bytes": 100}}}}],
  "allowances": [] })";

TEST(BudgetRatchetTest, TightensAndLeavesTheRestAsItWas) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("a.leakgate.json", kLoose);
  EXPECT_EQ(Leakgate({"budget", "ratchet", "--budgets", file, "--", kBudgeted}).exit_code, 0);
  EXPECT_EQ(ReadFile(file), kTight);
  EXPECT_EQ(
      Leakgate({"budget", "ratchet", "--check", "--budgets", file, "--", kBudgeted}).exit_code, 0);
}

TEST(BudgetRatchetTest, ChecksWithoutAChange) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("a.leakgate.json", kLoose);
  EXPECT_EQ(
      Leakgate({"budget", "ratchet", "--check", "--budgets", file, "--", kBudgeted}).exit_code, 1);
  EXPECT_EQ(ReadFile(file), kLoose);
}

TEST(BudgetRatchetTest, RemovesNothingAfterARunOfSomeTests) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write("a.leakgate.json", kLoose);
  Leakgate({"budget", "ratchet", "--budgets", file, "--", kBudgeted, "--gtest_filter=Disk.Opens"});
  EXPECT_EQ(ReadFile(file), kLoose);
}

TEST(BudgetRatchetTest, ChangesNothingAfterARunThatIsNotGreen) {
  const TemporaryDirectory directory;
  const std::string text = R"({"component": "tests", "limits": {"test": {"outstanding": {"bytes":
                               0}}}, "allowances": [{"stack": ["nobody"], "reason": "unused"}]})";
  const std::string file = directory.Write("a.leakgate.json", text);
  EXPECT_EQ(Leakgate({"budget", "ratchet", "--budgets", file, "--", kBudgeted}).exit_code, 1);
  EXPECT_EQ(ReadFile(file), text);
}

TEST(BudgetCheckTest, TellsEveryBadFile) {
  const TemporaryDirectory directory;
  const std::string one = directory.Write("a.leakgate.json", "{}");
  const std::string two = directory.Write("b.leakgate.json", "[");
  const CommandResult check = Leakgate({"budget", "check", directory.path()});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_THAT(check.standard_output, HasSubstr("error: " + one + ":1:1: component: missing"));
  EXPECT_THAT(check.standard_output, HasSubstr("error: " + two + ":1:1: not valid JSON"));
}

TEST(BudgetCheckTest, TellsEveryErrorOfAFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.Write(
      "a.leakgate.json", R"({"tests": [""], "limits": {"test": {"growth": {"blocks": -1}}}})");
  const CommandResult check = Leakgate({"budget", "check", file});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_THAT(check.standard_output, HasSubstr("tests[0]: is empty"));
  EXPECT_THAT(check.standard_output, HasSubstr("-1 is negative"));
  EXPECT_THAT(check.standard_output, HasSubstr("component: missing"));
  EXPECT_THAT(check.standard_output, HasSubstr("errors: 3"));
}

TEST(BudgetFileWithoutUseTest, IsToldByTheRunAndFailsItIfStrict) {
  const TemporaryDirectory directory;
  const std::string file =
      directory.Write("a.leakgate.json", R"({"component": "a", "tests": ["Gone.*"]})");
  const GatedRun run = RunGated({FixturePath("call_sites_untouched")}, {"--budgets", file});
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("warning: " + file + ": tests: \"Gone.*\" matches no test"));
  const std::string other =
      directory.Write("b.leakgate.json", R"({"component": "b", "binaries": ["gone"]})");
  const GatedRun strict =
      RunGated({FixturePath("launch_dynamic")}, {"--budgets", other, "--strict"});
  EXPECT_THAT(strict.command.standard_error, HasSubstr("binaries: \"gone\" does not match"));
}

TEST(BudgetCheckTest, TellsConflictsAndPatternsWithoutATest) {
  const TemporaryDirectory directory;
  directory.Write("a.leakgate.json", R"({"component": "a", "tests": ["Net.*", "Ned.*"]})");
  directory.Write("b.leakgate.json", R"({"component": "b", "tests": ["Net.*"]})");
  const CommandResult check = Leakgate({"budget", "check", directory.path(), "--", kBudgeted});
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_THAT(check.standard_output, HasSubstr("both cover Net.Leaks100Bytes"));
  EXPECT_THAT(check.standard_output, HasSubstr("tests: \"Ned.*\" matches no test"));
}

TEST(ExplainTest, TellsTheFileNearestToTheTest) {
  const std::vector<std::string> budgets = {"--budgets",
                                            LEAKGATE_SOURCE_DIR "/tests/fixtures/budgets"};
  const CommandResult explain =
      Leakgate({"explain", "Net.Leaks100Bytes", budgets[0], budgets[1], "--", kBudgeted});
  EXPECT_EQ(explain.exit_code, 0) << explain.standard_error;
  EXPECT_THAT(explain.standard_output, HasSubstr("(component net"));
  EXPECT_THAT(explain.standard_output, HasSubstr("loses: "));
}

TEST(ExplainTest, ProposesTheTestThatWasMeant) {
  const CommandResult explain = Leakgate({"explain", "Net.Leaks10Bytes", "--", kBudgeted});
  EXPECT_EQ(explain.exit_code, 2);
  EXPECT_THAT(explain.standard_error, HasSubstr("did you mean 'Net.Leaks100Bytes'?"));
}

}  // namespace
}  // namespace leakgate::test
