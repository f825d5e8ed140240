#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/budget/read_budget.h"
#include "runner/report/excess.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingProgram;
using sample::FailingTest;
using sample::FailingUncoveredTest;
using sample::Over;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

WindowResult FailingSuite() {
  WindowResult window = FailingTest("HttpTest");
  window.kind = WindowKind::kSuite;
  return window;
}

// Fails by the default policy, for net's budget file sets no limit.
WindowResult FailingCoveredTest() {
  WindowResult window = FailingUncoveredTest();
  AppliedBudget budget = sample::BudgetOf("net");
  budget.file = "net.leakgate.json";
  window.budget = std::make_shared<const AppliedBudget>(budget);
  for (Violation& violation : window.violations) violation.component = "net";
  return window;
}

BudgetFile Parse(const std::string& text) {
  const Expected<BudgetFile> budget = ParseBudgetFile("net.json", text);
  EXPECT_TRUE(budget.has_value()) << text << '\n' << budget.error().message;
  return budget.value_or(BudgetFile{});
}

TEST(RemedyTest, IsAnOverrideOfTheTestWithTheMeasuredNumbers) {
  EXPECT_EQ(RemedyJson(FailingTest()),
            R"({ "tests": ["HttpTest.KeepAlive"], "limits": { "test": { "outstanding": )"
            R"({ "bytes": 128, "blocks": 2 } } }, "reason": "..." })");
}

TEST(RemedyTest, IsAnOverrideThatABudgetFileTakes) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(FailingTest()) + "]}");

  EXPECT_EQ(budget.overrides.at(0).limits.test.outstanding.bytes->value, 128);
  EXPECT_EQ(budget.overrides.at(0).limits.test.outstanding.blocks->value, 2);
}

TEST(RemedyTest, OfASuiteIsAnOverrideOfAllItsTests) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(FailingSuite()) + "]}");

  EXPECT_EQ(budget.overrides.at(0).tests.at(0), "HttpTest.*");
  EXPECT_EQ(budget.overrides.at(0).limits.suite.outstanding.bytes->value, 128);
}

TEST(RemedyTest, OfAProcessIsAnOverrideOfTheTestThatStartedIt) {
  WindowResult window = FailingTest("http_server");
  window.kind = WindowKind::kProcess;
  window.started_by = "A.B";
  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(window) + "]}");

  EXPECT_EQ(budget.overrides.at(0).tests.at(0), "A.B");
  EXPECT_EQ(budget.overrides.at(0).limits.process.outstanding.bytes->value, 128);
}

TEST(RemedyTest, OfAProcessThatNoTestStartedIsTheLimitsOfTheFile) {
  WindowResult window = FailingTest("http_server");
  window.kind = WindowKind::kProcess;
  const BudgetFile budget = Parse(R"({"component": "net", "limits": )" + RemedyJson(window) + "}");

  EXPECT_EQ(budget.limits.process.outstanding.bytes->value, 128);
}

TEST(RemedyTest, OfTheProgramIsTheLimitsOfTheFile) {
  const BudgetFile budget =
      Parse(R"({"component": "net", "limits": )" + RemedyJson(FailingProgram()) + "}");

  EXPECT_EQ(budget.limits.program.outstanding.bytes->value, 128);
}

TEST(RemedyTest, IsAWholeFileWithAnAllowanceWhereNoneCoversTheTest) {
  const BudgetFile budget = Parse(RemedyJson(FailingUncoveredTest()));

  EXPECT_THAT(budget.allowances.at(0).stack, ElementsAre("net::Pool::Grow"));
  EXPECT_EQ(budget.allowances.at(0).bytes->value, 128);
  EXPECT_EQ(budget.allowances.at(0).blocks->value, 2);
}

TEST(RemedyTest, OfWhatTheDefaultPolicyFailsIsAnAllowanceOfItsCallSite) {
  EXPECT_EQ(RemedyJson(FailingCoveredTest()),
            R"({ "stack": ["net::Pool::Grow"], "bytes": 128, "blocks": 2, "reason": "..." })");
}

TEST(RemedyTest, AllowsWhatGrowsToo) {
  WindowResult window = FailingCoveredTest();
  window.findings = {sample::RetainedFinding(Disposition::kSteady, {64, 1})};

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("bytes": 64, "blocks": 1)"));
}

TEST(RemedyTest, DoesNotAllowWhatPassesAnyway) {
  WindowResult window = FailingCoveredTest();
  window.findings.push_back(sample::RetainedFinding(Disposition::kOneTime, {1000, 1}));

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("bytes": 128, "blocks": 2)"));
}

TEST(RemedyTest, AddsUpWhatOneAllowanceCovers) {
  WindowResult window = FailingCoveredTest();
  window.findings.push_back(sample::LostFinding({32, 1}));

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("bytes": 160, "blocks": 3)"));
}

TEST(RemedyTest, AllowsAllCallSites) {
  WindowResult window = FailingCoveredTest();
  window.findings.clear();
  for (const char* const function : {"net::A()", "net::B()", "net::C()", "net::D()"}) {
    window.findings.push_back(sample::LostFinding());
    window.findings.back().stack.Edit()[2].function = function;
  }
  const BudgetFile budget =
      Parse(R"({"component": "net", "allowances": [)" + RemedyJson(window) + "]}");

  EXPECT_THAT(budget.allowances, testing::SizeIs(4));
}

TEST(RemedyTest, OfVeryManyCallSitesIsTheCommandThatWritesAll) {
  WindowResult window = FailingCoveredTest();
  window.findings.clear();
  for (int i = 0; i < 13; ++i) {
    window.findings.push_back(sample::LostFinding());
    window.findings.back().stack.Edit()[2].function = "net::F" + std::to_string(i) + "()";
  }
  EXPECT_EQ(RemedyText(window),
            "fix it, or allow it by 13 entries, which leakgate budget init writes");
}

TEST(RemedyTest, OfDescriptorsBesidesIsAnOverrideBesides) {
  WindowResult window = FailingUncoveredTest();
  window.violations.push_back(Over(Metric::kSteadyFileDescriptors, 2, 0));
  const BudgetFile budget = Parse(RemedyJson(window));

  EXPECT_THAT(budget.allowances, testing::SizeIs(1));
  ASSERT_THAT(budget.overrides, testing::SizeIs(1));
  EXPECT_EQ(budget.overrides[0].limits.test.file_descriptors->value, 2);
}

TEST(RemedyTest, OfOthersCodeBesidesNamesBothFiles) {
  WindowResult window = FailingCoveredTest();
  AppliedBudget pool = sample::BudgetOf("pool");
  pool.file = "pool.leakgate.json";
  window.code_budgets = {std::make_shared<const AppliedBudget>(pool)};
  window.findings.push_back(sample::LostFinding());
  window.findings.back().component = "pool";

  EXPECT_THAT(RemedyText(window),
              testing::AllOf(HasSubstr("in \"allowances\" of net.leakgate.json: {"),
                             HasSubstr("; and in \"allowances\" of pool")));
}

TEST(RemedyTest, OfWhatIsUnconfirmedAllowsAllOfIt) {
  WindowResult window = sample::UnconfirmedTest();
  window.budget = NoBudget();
  window.findings.push_back(sample::RetainedFinding(Disposition::kUnconfirmed, {36, 1}));
  window.findings.push_back(sample::RetainedFinding(Disposition::kOneTime, {1000, 1}));

  EXPECT_THAT(RemedyText(window), StartsWith("free it in the test, or give its repetitions more"));
  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("bytes": 100, "blocks": 2)"));
}

TEST(RemedyTest, OfOthersCodeGoesIntoTheirBudgetFile) {
  WindowResult window = FailingCoveredTest();
  AppliedBudget pool = sample::BudgetOf("pool");
  pool.file = "pool.leakgate.json";
  window.code_budgets = {std::make_shared<const AppliedBudget>(pool)};
  window.findings[0].component = "pool";
  window.violations[0].component = "pool";

  EXPECT_THAT(RemedyText(window),
              StartsWith("fix it, or allow it in \"allowances\" of pool.leakgate.json: "
                         "{ \"stack\": [\"net::Pool::Grow\"]"));
}

// No allowance can name it.
TEST(RemedyTest, OfALossOfCodeWithoutNamesIsALimitOfTheTest) {
  WindowResult window = FailingUncoveredTest();
  window.findings.push_back(sample::LostFinding({1000, 1}));
  window.findings[1].stack.Edit().clear();
  window.findings[1].user_frame.reset();

  EXPECT_EQ(RemedyJson(window),
            R"({ "component": "...", "overrides": [{ "tests": ["HttpTest.KeepAlive"], )"
            R"("limits": { "test": { "lost": { "bytes": 128, "blocks": 2 } } }, )"
            R"("reason": "..." }] })");
}

TEST(RemedyTest, IsToFixItWhereNothingIsKnownOfTheCallStack) {
  WindowResult window = FailingCoveredTest();
  window.findings[0].stack.Edit().clear();
  window.findings[0].user_frame.reset();
  window.findings[0].reach = Reach::kRetained;
  window.findings[0].disposition = Disposition::kSteady;
  window.violations[0].metric = Metric::kSteadyBytes;

  EXPECT_EQ(RemedyText(window), "fix it: nothing is known of its call stack to allow it by");
}

TEST(RemedyTest, IsToFixAFreeingError) {
  WindowResult window = FailingTest();
  window.violations.clear();
  window.free_errors = {{"freed twice, by free()", {}, {}}};

  EXPECT_EQ(RemedyText(window), "fix it: no budget allows this");
}

TEST(RemedyTest, RaisesALimitOnWhatIsANumber) {
  WindowResult window = FailingTest();
  window.violations = {Over(Metric::kPeakBytes, 4096, 1024, {"net.json", 3, ""}),
                       Over(Metric::kMappedBytes, 8192, 0, {"net.json", 3, ""}, {8192, 1}),
                       Over(Metric::kFileDescriptors, 2, 1, {"net.json", 3, ""}),
                       Over(Metric::kThreads, 3, 0, {"net.json", 3, ""})};

  const BudgetFile budget =
      Parse(R"({"component": "net", "overrides": [)" + RemedyJson(window) + "]}");

  const WindowLimits& limits = budget.overrides.at(0).limits.test;
  EXPECT_EQ(limits.peak_bytes->value, 4096);
  EXPECT_EQ(limits.mapped.bytes->value, 8192);
  EXPECT_EQ(limits.mapped.blocks->value, 1);
  EXPECT_EQ(limits.file_descriptors->value, 2);
  EXPECT_EQ(limits.threads->value, 3);
}

TEST(RemedyTest, RaisesGrowthOnlyWhereGrowthIsOver) {
  WindowResult window = FailingTest();
  window.violations = {Over(Metric::kGrowthBytes, 64, 0, {"net.json", 3, ""}, {64, 1})};

  EXPECT_THAT(RemedyJson(window),
              HasSubstr(R"("limits": { "test": { "growth": { "bytes": 64, "blocks": 1 } } })"));
}

TEST(RemedyTest, RaisesBothWhereBothAreOver) {
  WindowResult window = FailingTest();
  window.violations.push_back(Over(Metric::kGrowthBlocks, 2, 1, {"net.json", 3, ""}));

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("blocks": 2 }, "growth": { "bytes": 128)"));
}

TEST(RemedyTest, SetsNoNegativeLimit) {
  WindowResult window = FailingTest();
  window.violations = {Over(Metric::kGrowthBytes, 64, 0, {"net.json", 3, ""}, {64, -1})};

  EXPECT_THAT(RemedyJson(window), HasSubstr(R"("growth": { "bytes": 64 })"));
}

TEST(RemedyTest, QuotesATestsNameForJson) {
  const WindowResult window = FailingTest("Suite.\"quoted\" \xff");

  EXPECT_THAT(RemedyJson(window), HasSubstr("[\"Suite.\\\"quoted\\\" \uFFFD\"]"));
}

TEST(RemedyTest, SaysIntoWhichFileItGoes) {
  EXPECT_THAT(RemedyText(FailingTest()),
              StartsWith("fix it, or allow it in \"overrides\" of budgets/net.leakgate.json: {"));
  EXPECT_THAT(RemedyText(FailingProgram()),
              StartsWith("fix it, or allow it in \"limits\" of budgets/net.leakgate.json: {"));
}

TEST(RemedyTest, NamesANewFileWhereNoneCoversTheTest) {
  EXPECT_THAT(RemedyText(FailingUncoveredTest()),
              StartsWith("fix it, or allow it in a new NAME.leakgate.json: {"));
}

TEST(RemedyTest, NamesTheFileOfTheBudgetWhereItSetsNoLimit) {
  EXPECT_THAT(RemedyText(FailingCoveredTest()),
              HasSubstr("\"allowances\" of net.leakgate.json: {"));
}

TEST(RemedyTest, NamesTheComponentWhereItsFileIsNotKnown) {
  WindowResult window = FailingUncoveredTest();
  window.budget = std::make_shared<const AppliedBudget>(sample::BudgetOf("net"));

  EXPECT_THAT(RemedyText(window), HasSubstr("\"allowances\" of net's budget file: {"));
}

}  // namespace
}  // namespace leakgate
