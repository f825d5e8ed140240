// What is reported of a run: files of each format, the JSON report against its schema, and the
// summary as short, as long and as deep as asked for.
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <filesystem>

#include "tests/integration/both_modes.h"
#include "tests/integration/launch_commands.h"
#include "tests/support/json_schema.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

// Report files of a run: asked for before the program runs, written whole.

TEST(LaunchReportsTest, AllThatAreAskedForAreWritten) {
  const TemporaryDirectory directory;
  RunCommand(Gated({"true"}, {"--report", "json=" + directory.File("a"), "--report",
                              "json=" + directory.File("b")}));
  EXPECT_EQ(ReadFile(directory.File("a")), ReadFile(directory.File("b")));
  EXPECT_THAT(ReadFile(directory.File("a")), HasSubstr("leakgate-report-2"));
}

TEST(LaunchReportsTest, AMissingDirectoryIsAnErrorBeforeTheProgramRuns) {
  const CommandResult result =
      RunCommand(Gated({"echo", "ran"}, {"--report", "json=/nonexistent/r"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_error,
            "leakgate: cannot write report /nonexistent/r: its directory does not exist; create it "
            "first\n");
  EXPECT_EQ(result.standard_output, "");
}

// A program that takes the report's directory away.
Command Removing(const std::string& directory, int exit_code) {
  return {"sh", "-c", "rmdir " + directory + "; exit " + std::to_string(exit_code)};
}

TEST(LaunchReportsTest, AReportOfAPassedRunThatCannotBeWrittenIsExitCode3) {
  const TemporaryDirectory directory;
  const std::string gone = directory.File("gone");
  std::filesystem::create_directory(gone);
  const CommandResult result =
      RunCommand(Gated(Removing(gone, 0), {"--report", "json=" + gone + "/r"}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("leakgate: cannot write report " + gone + "/r: "));
}

TEST(LaunchReportsTest, ItDoesNotHideTheProgramsExitCodeNorTheOtherReports) {
  const TemporaryDirectory directory;
  const std::string gone = directory.File("gone");
  std::filesystem::create_directory(gone);
  const CommandResult result =
      RunCommand(Gated(Removing(gone, 7), {"--report", "json=" + gone + "/r", "--report",
                                           "json=" + directory.File("b")}));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.standard_error, HasSubstr("leakgate: cannot write report " + gone + "/r: "));
  EXPECT_THAT(ReadFile(directory.File("b")), HasSubstr("leakgate-report-2"));
}

TEST(LaunchReportsTest, AnUnknownFormatIsAnErrorBeforeTheProgramRuns) {
  const CommandResult result = RunCommand(Gated({"echo", "ran"}, {"--report", "yaml=r"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_THAT(result.standard_error,
              MatchesRegex("leakgate: report 'yaml=r': unknown format 'yaml'; known: json, junit, "
                           "[a-z, ]+, html\n"));
}

TEST(LaunchReportsTest, EachFormatIsWrittenAtOnce) {
  const TemporaryDirectory directory;
  std::vector<std::string> options = {"--confirm=off"};
  for (const std::string& format : ReportFormats()) {
    options.insert(options.end(), {"--report", format + "=" + directory.File(format)});
  }
  RunCommand(Gated({FixturePath("features_untouched")}, options));
  for (const std::string& format : ReportFormats()) {
    EXPECT_THAT(ReadFile(directory.File(format)), Not(IsEmpty())) << format;
  }
  EXPECT_THAT(ReadFile(directory.File("junit")), HasSubstr("<testcase "));
  EXPECT_THAT(ReadFile(directory.File("sarif")), HasSubstr("\"leakgate.lost\""));
  EXPECT_THAT(ReadFile(directory.File("github")), HasSubstr("::error file="));
  EXPECT_THAT(ReadFile(directory.File("gitlab")), HasSubstr("\"check_name\""));
  EXPECT_THAT(ReadFile(directory.File("markdown")), HasSubstr("## leakgate: over budget"));
  EXPECT_THAT(ReadFile(directory.File("folded")), HasSubstr(";main;"));
  EXPECT_THAT(ReadFile(directory.File("pprof")), testing::StartsWith("\x1f\x8b"));
  EXPECT_THAT(ReadFile(directory.File("speedscope")), HasSubstr("\"sampled\""));
}

TEST(LaunchReportsTest, MarkdownForTheStepSummaryIsAddedToIt) {
  const TemporaryDirectory directory;
  const std::string summary = directory.Write("summary", "an earlier step\n");
  RunCommand(Gated({"true"}, {"--report", "markdown=" + summary}),
             {.environment = {"GITHUB_STEP_SUMMARY=" + summary}});
  EXPECT_THAT(ReadFile(summary), testing::StartsWith("an earlier step\n## leakgate: "));
}

TEST(LaunchReportsTest, PathsAreRelativeToTheCheckoutOfTheCiService) {
  const TemporaryDirectory directory;
  RunCommand(Gated({FixturePath("features_untouched")},
                   {"--confirm=off", "--report", "github=" + directory.File("r")}),
             {.environment = {"GITHUB_WORKSPACE=" LEAKGATE_SOURCE_DIR "/tests"}});
  EXPECT_THAT(ReadFile(directory.File("r")), HasSubstr("file=fixtures/features.cpp,line="));
}

// As some containers and file systems have it: a new file cannot be named by a link.
TEST(LaunchReportsTest, AreWrittenWhereNoLinksCanBeMade) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 2; ++i) {  // a new one, and in the place of an old one
    Command command = {FixturePath("hostile_without_call"), std::to_string(SYS_linkat),
                       std::to_string(EPERM)};
    const Command gated = Gated({"true"}, {"--report", "json=" + directory.File("r")});
    command.insert(command.end(), gated.begin(), gated.end());
    EXPECT_EQ(RunCommand(command).exit_code, 0);
    EXPECT_THAT(ReadFile(directory.File("r")), HasSubstr("leakgate-report-2"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  }
}

TEST(LaunchReportsTest, OnlyTheReportIsLeftInItsDirectory) {
  const TemporaryDirectory directory;
  RunCommand(Gated({"true"}, {"--report", "json=" + directory.File("r")}));
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_EQ(entry.path().filename(), "r");
  }
}

// The report of a real run keeps to the published schema.

std::vector<std::string> SchemaErrors(const nlohmann::json& report) {
  return test::SchemaFileErrors(report, "docs/leakgate-report-2.schema.json");
}

class RealReportTest : public BothModes {};

TEST_P(RealReportTest, KeepsToTheSchemaWhenTestsFailInEveryWay) {
  EXPECT_THAT(SchemaErrors(RunTests("features", "*").report), IsEmpty());
}

TEST_P(RealReportTest, KeepsToTheSchemaWhenATestCrashes) {
  const GatedRun run = RunGated({Fixture("features"), "--gtest_break_on_failure"});
  EXPECT_THAT(SchemaErrors(run.report), IsEmpty());
}

TEST_P(RealReportTest, KeepsToTheSchemaWithABudget) {
  const GatedRun run =
      RunTests("budgeted", "*", {"--budgets", LEAKGATE_SOURCE_DIR "/tests/fixtures/budgets"});
  EXPECT_THAT(SchemaErrors(run.report), IsEmpty());
}

TEST_P(RealReportTest, KeepsToTheSchemaWithNegativeGrowth) {
  EXPECT_THAT(SchemaErrors(RunTests("windows", "*").report), IsEmpty());
}

LEAKGATE_IN_BOTH_MODES(RealReportTest);

// How much a run tells at its end: --quiet and --verbose.

CommandResult RunSuite(const std::string& filter, const Command& options) {
  return RunCommand(Gated(Launch("suite", {"--gtest_filter=" + filter}), options));
}

TEST(SummaryDetailTest, QuietSaysNothingOfAPass) {
  const CommandResult result = RunSuite("*.Passes", {"--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
}

TEST(SummaryDetailTest, QuietTellsWhatFailed) {
  const CommandResult result = RunSuite("*.Passes:*.Leaks", {"--quiet"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              AllOf(HasSubstr("Failure in Launch.Leaks"), HasSubstr("1 over budget")));
}

TEST(SummaryDetailTest, QuietTellsErrors) {
  const CommandResult result = RunSuite("*.Passes", {"--quiet", "--report", "json=/no/such/x"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.standard_error, HasSubstr("/no/such/x"));
}

TEST(SummaryDetailTest, VerboseTellsTheCostliestTests) {
  const CommandResult result = RunSuite("*.Leaks", {"--verbose"});
  EXPECT_THAT(result.standard_error, HasSubstr("\n  heaviest: Launch.Leaks "));
}

TEST(SummaryDetailTest, OnlyWhatStandsOutIsToldUnlessAskedFor) {
  EXPECT_THAT(RunSuite("*.Leaks", {}).standard_error,
              AllOf(HasSubstr("1 over budget"), Not(HasSubstr("heaviest: "))));
}

// --stack-depth: where stacks are cut, and that a cut one says so.

class DepthsTest : public BothModes {
 protected:
  static GatedRun Run(const std::vector<std::string>& options) {
    return RunGated({Fixture("depths")}, options);
  }
  static nlohmann::json FindingOf(const GatedRun& run) {
    return run.Test("Depths.LeaksAfter1000Calls")["findings"][0];
  }
  static std::ptrdiff_t DeepFrames(const nlohmann::json& finding) {
    const auto is_deep = [](const nlohmann::json& frame) {
      return frame["function"] == "LeakAtDepth(int)";
    };
    return std::count_if(finding["stack"].begin(), finding["stack"].end(), is_deep);
  }
};

TEST_P(DepthsTest, CutsAt256FramesUnlessTold) {
  const GatedRun run = Run({});
  EXPECT_EQ(FindingOf(run)["stack"].size(), 256U);
  EXPECT_EQ(FindingOf(run)["stack_end"], "depth_limit");
  EXPECT_EQ(run.report["tracing"]["stack_ends"]["depth_limit"], 1);
}

TEST_P(DepthsTest, CutsWhereItIsTold) {
  const GatedRun run = Run({"--stack-depth", "3"});
  EXPECT_EQ(FindingOf(run)["stack"].size(), 3U);
  EXPECT_EQ(FindingOf(run)["stack_end"], "depth_limit");
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              HasSubstr("... the stack is cut here: depth limit (--stack-depth)\n"));
}

TEST_P(DepthsTest, TellsAThousandFramesIfAsked) {
  const GatedRun run = Run({"--stack-depth", "1024"});
  EXPECT_EQ(DeepFrames(FindingOf(run)), 1000);
  EXPECT_EQ(FindingOf(run)["stack_end"], "outermost");
  EXPECT_FALSE(run.report["tracing"]["stack_ends"].contains("depth_limit"));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error, Not(HasSubstr("cut here")));
}

LEAKGATE_IN_BOTH_MODES(DepthsTest);

TEST(StackDepthTest, RefusesABadDepthInOneLineBeforeAnythingRuns) {
  const CommandResult result =
      RunCommand({LeakgatePath(), "run", "--stack-depth", "0", "--", "echo", "ran"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(result.standard_error,
            "leakgate: --stack-depth '0': not a number of frames from 1 to 1024; write for example "
            "--stack-depth 512\n");
}

}  // namespace
}  // namespace leakgate::test
