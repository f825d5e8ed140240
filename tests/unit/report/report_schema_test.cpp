// ToJson's output and the documented example keep to the published schema,
// and the schema is strict enough to notice if they did not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

// clang-format off: the adapter needs nlohmann/json first
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

#include <fstream>
#include <sstream>

#include "runner/report/json_report.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using testing::IsEmpty;
using testing::Not;

std::string ReadDocument(const std::string& name) {
  std::ifstream file(std::string(LEAKGATE_SOURCE_DIR) + "/docs/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What is wrong with `report` by the published schema.
std::vector<std::string> SchemaErrors(const nlohmann::json& report) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  const auto schema_json = nlohmann::json::parse(ReadDocument("leakgate-report-1.schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(Adapter(schema_json), schema);

  valijson::ValidationResults results;
  valijson::Validator().validate(schema, Adapter(report), &results);
  std::vector<std::string> errors;
  for (const valijson::ValidationResults::Error& error : results) {
    std::string place;
    for (const std::string& part : error.context) place += part;
    errors.push_back(place + ": " + error.description);
  }
  return errors;
}

nlohmann::json Report(const RunResult& result) { return nlohmann::json::parse(ToJson(result)); }

// Every optional key is there, and every kind of window.
RunResult FullRun() {
  WindowResult failing = sample::FailingTest();
  failing.source_file = "tests/http_test.cc";
  failing.source_line = 25;
  failing.growth = {-64, -1};
  sample::ChangeBudget(failing, [](AppliedBudget& budget) { budget.owner = "net-team"; });
  failing.violations.push_back(sample::Over("growth_blocks", 2, 1));
  failing.findings.push_back(sample::FrameworkFinding({160, 1}, "gmock-registry"));
  WindowResult suite = sample::PassingTest("HttpTest");
  suite.kind = WindowKind::kSuite;
  suite.status = TestStatus::kNone;
  RunResult result = sample::RunOf(
      {sample::ProgramWindow(), suite, failing, sample::InconclusiveTest("A.B", "timed out")});
  result.arguments = {"--gtest_shuffle"};
  result.reasons = {"timed out"};
  result.tracing.drops = {{"map_full", 1}};
  result.tracing.stack_ends = {{"depth_limit", 3}};
  return result;
}

// The one ```json block of the report's documentation.
std::string DocumentedExample() {
  const std::string text = ReadDocument("report-format.md");
  const std::string opening = "```json\n";
  const std::size_t begin = text.find(opening) + opening.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(ReportSchemaTest, HoldsForAFullReport) {
  EXPECT_THAT(SchemaErrors(Report(FullRun())), IsEmpty());
}

TEST(ReportSchemaTest, HoldsForAnEmptyRun) {
  EXPECT_THAT(SchemaErrors(Report(RunResult{})), IsEmpty());
}

TEST(ReportSchemaTest, HoldsForAProgramThatWasKilled) {
  RunResult result = sample::RunOf({});
  result.program = {.exit_code = {}, .signal = 11};
  result.exit_code = 139;

  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, HoldsForAFrameOfWhichNothingIsKnown) {
  RunResult result = sample::RunOf({sample::FailingTest()});
  result.windows[0].findings[0].stack = {Frame{}};
  result.windows[0].findings[0].user_frame.reset();

  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, HoldsForTheDocumentedExample) {
  EXPECT_THAT(SchemaErrors(nlohmann::json::parse(DocumentedExample())), IsEmpty());
}

TEST(ReportSchemaTest, ListsTheWordOfEveryEnumerator) {
  RunResult result = sample::RunOf({});
  for (std::uint32_t end = 0; end < kUnwindEndCount; ++end) {
    WindowResult window = sample::FailingTest();
    window.status = static_cast<TestStatus>(end % 6);
    window.verdict = static_cast<Verdict>(end % 4);
    window.findings[0].kind = static_cast<AllocationKind>(1 + end % 6);
    window.findings[0].stack_end = static_cast<UnwindEnd>(end);
    result.windows.push_back(window);
  }
  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, KnowsNoOtherKeys) {
  for (const char* const place :
       {"", "/program", "/tracing", "/windows/2", "/windows/2/growth", "/windows/2/violations/0",
        "/windows/2/findings/0", "/windows/2/findings/0/stack/0"}) {
    nlohmann::json report = Report(FullRun());
    report.at(nlohmann::json::json_pointer(place))["surprise"] = 1;
    EXPECT_THAT(SchemaErrors(report), Not(IsEmpty())) << place;
  }
}

TEST(ReportSchemaTest, RequiresEachKeyOfTheReport) {
  const nlohmann::json report = Report(FullRun());
  for (const auto& item : report.items()) {
    nlohmann::json without = report;
    without.erase(item.key());
    EXPECT_THAT(SchemaErrors(without), Not(IsEmpty())) << item.key();
  }
}

TEST(ReportSchemaTest, KnowsNoOtherWords) {
  for (const char* const place :
       {"/schema", "/verdict", "/tracing/boundaries", "/windows/2/kind", "/windows/2/test_result",
        "/windows/2/verdict", "/windows/2/violations/0/metric", "/windows/2/findings/0/kind",
        "/windows/2/findings/0/stack_end", "/windows/2/findings/0/stack/0/offset"}) {
    nlohmann::json report = Report(FullRun());
    report.at(nlohmann::json::json_pointer(place)) = "surprise";
    EXPECT_THAT(SchemaErrors(report), Not(IsEmpty())) << place;
  }
}

}  // namespace
}  // namespace leakgate
