// Each format as a whole, as its reader gets to see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/formats/written.h"
#include "tests/unit/report/golden.h"

namespace leakgate {
namespace {

std::string Everything(ReportFormat format) {
  return sample::Written(format, {sample::RunOfEverything()});
}

TEST(GoldenFormatsTest, Junit) {
  ExpectGolden("report.junit.xml", Everything(ReportFormat::kJunit));
}
TEST(GoldenFormatsTest, Sarif) { ExpectGolden("report.sarif", Everything(ReportFormat::kSarif)); }
TEST(GoldenFormatsTest, Github) {
  ExpectGolden("report.github", Everything(ReportFormat::kGithub));
}
TEST(GoldenFormatsTest, Gitlab) {
  ExpectGolden("report.gitlab.json", Everything(ReportFormat::kGitlab));
}
TEST(GoldenFormatsTest, Markdown) {
  ExpectGolden("report.md", Everything(ReportFormat::kMarkdown));
}
TEST(GoldenFormatsTest, Folded) {
  ExpectGolden("report.folded", Everything(ReportFormat::kFolded));
}
TEST(GoldenFormatsTest, Speedscope) {
  ExpectGolden("report.speedscope.json", Everything(ReportFormat::kSpeedscope));
}

TEST(GoldenFormatsTest, TheSameRunGivesTheSameBytes) {
  for (const ReportFormat format :
       {ReportFormat::kJunit, ReportFormat::kSarif, ReportFormat::kGithub, ReportFormat::kGitlab,
        ReportFormat::kMarkdown, ReportFormat::kFolded, ReportFormat::kPprof,
        ReportFormat::kSpeedscope}) {
    EXPECT_EQ(Everything(format), Everything(format));
  }
}

TEST(StreamingTest, ARunIsWrittenWhenItIsAddedWhereTheFormatAllowsIt) {
  for (const ReportFormat format :
       {ReportFormat::kJunit, ReportFormat::kSarif, ReportFormat::kGitlab}) {
    std::ostringstream out;
    const ReportWriter writer = NewReportWriter(format, out, sample::kSurroundings);
    writer.add(sample::RunOfEverything());
    EXPECT_THAT(out.str(), testing::HasSubstr("net::SessionCache::Put"));
    writer.finish();
  }
}

TEST(StreamingTest, PassingRunsAddNothingWhereOnlyFindingsAreTold) {
  for (const ReportFormat format :
       {ReportFormat::kGithub, ReportFormat::kGitlab, ReportFormat::kFolded, ReportFormat::kPprof,
        ReportFormat::kSpeedscope}) {
    const std::vector<RunResult> many(50, sample::PassingRun());
    EXPECT_EQ(sample::Written(format, many), sample::Written(format, {sample::PassingRun()}));
  }
}

}  // namespace
}  // namespace leakgate
