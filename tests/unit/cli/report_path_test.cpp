#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cli/write_reports.h"

namespace leakgate {
namespace {

using testing::HasSubstr;

const RunNaming kShard = {
    .pid = 42,
    .program = "build/net_test",
    .environment = {"GTEST_SHARD_INDEX=3", "TEST_UNDECLARED_OUTPUTS_DIR=/out", "JOB=j7", "NONE="}};

std::string Expanded(const std::string& path, const RunNaming& surroundings = kShard) {
  const auto expanded = ExpandReportPath(path, surroundings);
  return expanded ? expanded->string() : "error: " + expanded.error().message;
}

TEST(ReportPathTest, NamesWhatTellsOneJobFromAnother) {
  EXPECT_EQ(Expanded("{outputs}/{binary}-{shard}-{pid}-{env:JOB}.json"),
            "/out/net_test-3-42-j7.json");
}

TEST(ReportPathTest, LeavesOtherPathsAlone) {
  EXPECT_EQ(Expanded("reports/leaks.json"), "reports/leaks.json");
  EXPECT_EQ(Expanded("a}b{{c}.json"), "a}b{c}.json");
}

TEST(ReportPathTest, HasAValueWhereNobodyShardsOrCollectsOutputs) {
  EXPECT_EQ(Expanded("{outputs}/{shard}.json", {.pid = 1, .program = "x", .environment = {}}),
            "./0.json");
}

TEST(ReportPathTest, NamesAVariableThatIsNotSet) {
  EXPECT_THAT(Expanded("{env:MISSING}.json"), HasSubstr("the environment has no MISSING"));
  EXPECT_THAT(Expanded("{env:NONE}.json"), HasSubstr("the environment has no NONE"));
}

TEST(ReportPathTest, RefusesOneFileForTwoReports) {
  const auto problem = [](const std::vector<ReportRequest>& reports) {
    const auto checked = CheckReportsDiffer(reports);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(problem({{ReportFormat::kJson, "a"}, {ReportFormat::kHtml, "b"}}), "");
  EXPECT_EQ(problem({{ReportFormat::kJson, "/dev/null"}, {ReportFormat::kHtml, "/dev/null"}}), "");
  EXPECT_THAT(problem({{ReportFormat::kJson, "out/a"}, {ReportFormat::kHtml, "out/x/../a"}}),
              HasSubstr("out/x/../a: another report has that file"));
}

TEST(ReportPathTest, NamesAPlaceholderThatThereIsNot) {
  EXPECT_THAT(Expanded("{host}.json"), HasSubstr("no placeholder '{host}'"));
  EXPECT_THAT(Expanded("{pid.json"), HasSubstr("a '{' without a '}'"));
}

}  // namespace
}  // namespace leakgate
