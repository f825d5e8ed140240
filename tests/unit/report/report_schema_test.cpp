// ToJson's output and the documented example keep to the published schema,
// and the schema is strict enough to notice if they did not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "runner/budget/applied_budget.h"
#include "runner/report/json/json_report.h"
#include "tests/support/json_schema.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string ReadDocument(const std::string& name) {
  std::ifstream file(std::string(LEAKGATE_SOURCE_DIR) + "/docs/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> SchemaErrors(const nlohmann::json& report) {
  return test::SchemaFileErrors(report, "docs/leakgate-report-2.schema.json");
}

nlohmann::json Report(const RunResult& result) { return nlohmann::json::parse(ToJson(result)); }

Finding FullFinding() {
  Finding finding = sample::RetainedFinding(Disposition::kAllowed);
  finding.explanation = "one socket is pooled";
  finding.holder = "g_pool";
  finding.series = {1, 0, -1};
  finding.allowance = "net.json:7";
  finding.component = "net";
  finding.thread = "thread 'worker'";
  finding.baseline = BaselineState::kKnown;
  return finding;
}

// Every optional key is there, and every kind of window.
RunResult FullRun() {
  WindowResult failing = sample::FailingTest();
  failing.source_file = "tests/http_test.cc";
  failing.source_line = 25;
  failing.growth = {-64, -1};
  sample::ChangeBudget(failing, [](AppliedBudget& budget) { budget.owner = "net-team"; });
  failing.violations.push_back(sample::Over(Metric::kGrowthBlocks, 2, 1));
  failing.findings.push_back(sample::FrameworkFinding({160, 1}, "gmock-registry"));
  failing.findings.push_back(FullFinding());
  failing.file_descriptors = failing.threads = 1;
  failing.mappings = {sample::PoolFinding()};
  failing.mappings[0].kind = AllocationKind::kThreadStack;
  failing.mapped = {4096, 1};
  failing.reserved_bytes = 8192;
  failing.left_behind = {"file descriptor 7: /tmp/db"};
  failing.reach_problem = "the process cannot be stopped";
  failing.measuring_windows = {{"load config", "src/config.cc", 12, 3, 1, {64, 4}}};
  failing.free_errors = {
      {"freed twice, by free()", sample::PoolFinding(), {}, BaselineState::kNew}};
  failing.known = {64, 1};
  failing.known_violations.push_back(sample::Over(Metric::kThreads, 2, 1));
  WindowResult suite = sample::PassingTest("HttpTest");
  suite.kind = WindowKind::kSuite;
  suite.status = TestStatus::kNone;
  RunResult result = sample::RunOf(
      {sample::ProgramWindow(), suite, failing, sample::InconclusiveTest("A.B", "timed out")});
  result.arguments = {"--gtest_shuffle"};
  result.reasons = {"timed out"};
  result.failures = {"net.json:3: expired"};
  result.warnings = {"net.json:7: not used"};
  result.tracing.drops = {{"map_full", 1}};
  result.tracing.mapped = {4096, 1};
  result.shard = Shard{1, 4};
  result.baseline = "baseline.json";
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
    window.verdict = static_cast<Verdict>(end % 5);
    window.findings[0].kind = static_cast<AllocationKind>(1 + end % 6);
    window.findings[0].stack_end = static_cast<UnwindEnd>(end);
    result.windows.push_back(window);
  }
  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, ListsTheWordOfEveryDispositionReachVerdictAndMode) {
  constexpr int kDispositions = 11;
  for (int i = 0; i < kDispositions; ++i) {
    RunResult result = sample::RunOf({sample::FailingTest()});
    result.verdict = static_cast<Verdict>(i % 5);
    result.mode = static_cast<GateMode>(i % 3);
    result.windows[0].findings[0].disposition = static_cast<Disposition>(i);
    result.windows[0].findings[0].reach = static_cast<Reach>(i % 4);
    EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty()) << i;
  }
}

TEST(ReportSchemaTest, TakesTheWindowOfAProcess) {
  RunResult result = sample::RunOf({sample::FailingTest("http_server")});
  result.windows[0].kind = WindowKind::kProcess;
  result.windows[0].started_by = "A.B";
  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, TakesWhoMadeIt) {
  RunResult result = sample::RunOf({sample::FailingTest()});
  WindowResult& window = result.windows[0];
  window.temporary = Amount{3, 1};
  window.made_by = {{.quantity = Quantity::kPeak,
                     .amount = {128, 2},
                     .sites = {{sample::PoolFinding()}},
                     .other_sites = 1,
                     .other = {64, 1},
                     .framework = {8, 1}},
                    {.quantity = Quantity::kTemporary, .is_within_limits = true},
                    {.quantity = Quantity::kAllocated, .problem = "confirmation is off"}};
  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, ListsEveryMetric) {
  AppliedBudget budget;
  const AppliedLimit none = {0, {"net.json", 3, ""}};
  for (const AmountQuantity& quantity : kAmountQuantities) budget.*quantity.applied = {none, none};
  for (const NumberQuantity& quantity : kNumberQuantities) budget.*quantity.applied = none;
  Measured measured;
  measured.outstanding = measured.lost = measured.retained = measured.growth = {1, 1};
  measured.allocated = measured.mapped = {1, 1};
  measured.temporary = Amount{1, 1};
  measured.peak_bytes = 1;
  measured.file_descriptors = measured.threads = 1;
  RunResult result = sample::RunOf({sample::FailingTest(), sample::FailingTest("A.B")});
  result.windows[0].violations = Judge(measured, budget);
  result.windows[1].violations = {sample::Over(Metric::kSteadyBytes, 1, 0),
                                  sample::Over(Metric::kSteadyBlocks, 1, 0)};

  EXPECT_THAT(result.windows[0].violations, SizeIs(17));
  EXPECT_THAT(SchemaErrors(Report(result)), IsEmpty());
}

TEST(ReportSchemaTest, KnowsNoOtherKeys) {
  for (const char* const place :
       {"", "/program", "/tracing", "/windows/2", "/windows/2/growth", "/windows/2/violations/0",
        "/windows/2/findings/0", "/windows/2/findings/0/stack/0", "/windows/2/free_errors/0"}) {
    nlohmann::json report = Report(FullRun());
    report.at(nlohmann::json::json_pointer(place))["surprise"] = 1;
    EXPECT_THAT(SchemaErrors(report), Not(IsEmpty())) << place;
  }
}

TEST(ReportSchemaTest, RequiresEachKeyOfTheReport) {
  const nlohmann::json report = Report(FullRun());
  for (const auto& item : report.items()) {
    nlohmann::json without = report;
    if (item.key() == "shard" || item.key() == "baseline") continue;  // where there is one
    without.erase(item.key());
    EXPECT_THAT(SchemaErrors(without), Not(IsEmpty())) << item.key();
  }
}

TEST(ReportSchemaTest, KnowsNoOtherWords) {
  for (const char* const place :
       {"/schema", "/verdict", "/mode", "/windows/2/findings/2/disposition",
        "/windows/2/findings/2/reach", "/tracing/boundaries", "/windows/2/kind",
        "/windows/2/test_result", "/windows/2/verdict", "/windows/2/violations/0/metric",
        "/windows/2/findings/0/kind", "/windows/2/findings/0/stack_end",
        "/windows/2/findings/0/stack/0/offset"}) {
    nlohmann::json report = Report(FullRun());
    report.at(nlohmann::json::json_pointer(place)) = "surprise";
    EXPECT_THAT(SchemaErrors(report), Not(IsEmpty())) << place;
  }
}

}  // namespace
}  // namespace leakgate
