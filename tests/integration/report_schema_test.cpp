// The report of a real run keeps to the published schema.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/support/json_schema.h"

namespace leakgate::test {
namespace {

using testing::IsEmpty;

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

}  // namespace
}  // namespace leakgate::test
