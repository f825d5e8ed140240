// The report of a real run keeps to the published schema.
#include <gmock/gmock.h>

// clang-format off: the adapter needs nlohmann/json first
#include <nlohmann/json.hpp>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop
// clang-format on

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::IsEmpty;

std::vector<std::string> SchemaErrors(const nlohmann::json& report) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  const nlohmann::json text =
      nlohmann::json::parse(ReadFile(LEAKGATE_SOURCE_DIR "/docs/leakgate-report-2.schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(Adapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, Adapter(report), &results);
  std::vector<std::string> errors;
  for (const valijson::ValidationResults::Error& error : results) {
    errors.push_back(error.context.back() + ": " + error.description);
  }
  return errors;
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
