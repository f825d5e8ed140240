// Each format as a whole, as its reader gets to see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/report/formats/written.h"
#include "tests/unit/report/golden.h"

namespace leakgate {
namespace {

std::string Everything(ReportFormat format) {
  return sample::Written(format, {sample::RunOfEverything()});
}

ReportFormat FormatNamed(const std::string& name) {
  return ParseReportRequest(name + "=file").value().format;
}

// Returns those that have a golden file. The JSON report's is of another run (GoldenTest), and of a
// page, or of packed bytes, nobody could read the difference.
std::vector<std::string> NamesWithGoldenFile() {
  std::vector<std::string> names = FormatNames();
  std::erase_if(names, [](const std::string& name) {
    return name == "json" || name == "pprof" || name == "html";
  });
  return names;
}

class GoldenFormatsTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenFormatsTest, IsWrittenAsInItsGoldenFile) {
  ExpectGolden("report." + GetParam(), Everything(FormatNamed(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(, GoldenFormatsTest, testing::ValuesIn(NamesWithGoldenFile()),
                         [](const auto& test) { return test.param; });

TEST(EachFormatTest, GivesTheSameBytesForTheSameRun) {
  for (const std::string& name : FormatNames()) {
    const ReportFormat format = FormatNamed(name);
    EXPECT_TRUE(Everything(format) == Everything(format)) << name;  // a page is too long to print
  }
}

TEST(EachFormatTest, HasItsRowInTheDocument) {
  std::ifstream file(LEAKGATE_SOURCE_DIR "/docs/reports.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find("](");
    if (line.starts_with("| [") && end != std::string::npos)
      rows.push_back(line.substr(3, end - 3));
  }
  EXPECT_THAT(rows, testing::ElementsAreArray(FormatNames()));
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
