// Report files of a run: asked for before the program runs, written whole.
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

TEST(LaunchReportsTest, AllThatAreAskedForAreWritten) {
  const TemporaryDirectory directory;
  RunCommand(Gated({"true"}, {"--report", "json=" + directory.File("a"), "--report",
                              "json=" + directory.File("b")}));
  EXPECT_EQ(ReadFile(directory.File("a")), ReadFile(directory.File("b")));
  EXPECT_THAT(ReadFile(directory.File("a")), HasSubstr("leakgate-report-2"));
}

TEST(LaunchReportsTest, AnUnwritableReportOfAPassedRunIsExitCode3) {
  const CommandResult result = RunCommand(Gated({"true"}, {"--report", "json=/nonexistent/r"}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("leakgate: cannot write report /nonexistent/r: "));
}

TEST(LaunchReportsTest, AnUnwritableReportDoesNotHideTheProgramsExitCode) {
  const CommandResult result =
      RunCommand(Gated({"sh", "-c", "exit 7"}, {"--report", "json=/nonexistent/r"}));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.standard_error, HasSubstr("leakgate: cannot write report /nonexistent/r: "));
}

TEST(LaunchReportsTest, TheOthersAreWrittenWhereOneCannotBe) {
  const TemporaryDirectory directory;
  RunCommand(Gated({"true"},
                   {"--report", "json=/nonexistent/r", "--report", "json=" + directory.File("b")}));
  EXPECT_THAT(ReadFile(directory.File("b")), HasSubstr("leakgate-report-2"));
}

TEST(LaunchReportsTest, AnUnknownFormatIsAnErrorBeforeTheProgramRuns) {
  const CommandResult result = RunCommand(Gated({"echo", "ran"}, {"--report", "yaml=r"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(result.standard_error,
            "leakgate: report 'yaml=r': unknown format 'yaml'; known: json, junit, sarif, github, "
            "gitlab, markdown, folded, pprof, speedscope, html\n");
}

TEST(LaunchReportsTest, EachFormatIsWrittenAtOnce) {
  const TemporaryDirectory directory;
  std::vector<std::string> options;
  for (const std::string format : {"json", "junit", "sarif", "github", "gitlab", "markdown",
                                   "folded", "pprof", "speedscope", "html"}) {
    options.insert(options.end(), {"--report", format + "=" + directory.File(format)});
  }
  RunCommand(Gated({FixturePath("features_untouched")}, options));
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
  RunCommand(
      Gated({FixturePath("features_untouched")}, {"--report", "github=" + directory.File("r")}),
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

}  // namespace
}  // namespace leakgate::test
