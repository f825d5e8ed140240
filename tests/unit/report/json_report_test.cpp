#include "runner/report/json/json_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using nlohmann::json;
using sample::FailingTest;
using sample::RunOf;
using testing::EndsWith;
using testing::StartsWith;

json Parsed(const RunResult& result) { return json::parse(ToJson(result)); }

json WindowJson(const WindowResult& window) { return Parsed(RunOf({window})).at("windows").at(0); }

json FindingJson(const Finding& finding) {
  WindowResult window = FailingTest();
  window.findings = {finding};
  return WindowJson(window).at("findings").at(0);
}

TEST(JsonReportTest, BeginsWithTheSchemaAndEndsWithANewline) {
  const std::string text = ToJson(RunResult{});

  EXPECT_THAT(text, StartsWith("{\n \"schema\": \"leakgate-report-2\",\n"));
  EXPECT_THAT(text, EndsWith("\n}\n"));
}

TEST(JsonReportTest, IsTheSameForTheSameResult) {
  EXPECT_EQ(ToJson(RunOf({FailingTest()})), ToJson(RunOf({FailingTest()})));
}

TEST(JsonReportTest, TellsWhatWasRun) {
  RunResult result = RunOf({});
  result.arguments = {"--gtest_filter=A.*"};

  EXPECT_EQ(Parsed(result).at("binary"), "build/http_test");
  EXPECT_EQ(Parsed(result).at("arguments"), json({"--gtest_filter=A.*"}));
}

TEST(JsonReportTest, NamesTheTestThatStartedAProcess) {
  WindowResult window = FailingTest("http_server");
  window.kind = WindowKind::kProcess;
  EXPECT_EQ(WindowJson(window).at("kind"), "process");
  EXPECT_FALSE(WindowJson(window).contains("started_by"));
  window.started_by = "A.B";
  EXPECT_EQ(WindowJson(window).at("started_by"), "A.B");
}

TEST(JsonReportTest, NamesEachVerdictOfARun) {
  RunResult result;
  EXPECT_EQ(Parsed(result).at("verdict"), "pass");
  result.verdict = Verdict::kOverBudget;
  EXPECT_EQ(Parsed(result).at("verdict"), "failed");
  result.verdict = Verdict::kInconclusive;
  EXPECT_EQ(Parsed(result).at("verdict"), "inconclusive");
  result.verdict = Verdict::kUnconfirmed;
  EXPECT_EQ(Parsed(result).at("verdict"), "unconfirmed");
}

TEST(JsonReportTest, TellsWhenAWindowWasAndWhatWasLiveThen) {
  using namespace std::chrono_literals;
  WindowResult window = FailingTest();
  window.begin = 1500ms;
  window.end = 1750ms;
  window.live_bytes_at_begin = 100;
  window.live_bytes_at_end = 164;
  RunResult result = RunOf({window});
  result.begin = 1s;
  const json written = Parsed(result).at("windows").at(0);

  EXPECT_EQ(written.at("begin_seconds"), 0.5);
  EXPECT_EQ(written.at("end_seconds"), 0.75);
  EXPECT_EQ(written.at("live_bytes"), json({{"begin", 100}, {"end", 164}}));
}

TEST(JsonReportTest, NamesEachMode) {
  RunResult result;
  EXPECT_EQ(Parsed(result).at("mode"), "gate");
  result.mode = GateMode::kStrict;
  EXPECT_EQ(Parsed(result).at("mode"), "strict");
  result.mode = GateMode::kWarnOnly;
  EXPECT_EQ(Parsed(result).at("mode"), "warn_only");
}

TEST(JsonReportTest, ListsWhatElseFailsAndWhatIsWarnedOf) {
  RunResult result;
  result.failures = {"net.json:3: expired"};
  result.warnings = {"net.json:7: not used"};

  EXPECT_EQ(Parsed(result).at("failures"), json({"net.json:3: expired"}));
  EXPECT_EQ(Parsed(result).at("warnings"), json({"net.json:7: not used"}));
}

TEST(JsonReportTest, CallsARunThatGatedNothingInconclusive) {
  RunResult result;
  result.verdict = Verdict::kNotGated;

  EXPECT_EQ(Parsed(result).at("verdict"), "inconclusive");
}

TEST(JsonReportTest, TellsTheExitCodeOfTheProgramAndItsOwn) {
  RunResult result;
  result.exit_code = 1;
  result.program.exit_code = 0;

  EXPECT_EQ(Parsed(result).at("exit_code"), 1);
  EXPECT_EQ(Parsed(result).at("program"), json({{"exit_code", 0}, {"signal", nullptr}}));
}

TEST(JsonReportTest, TellsTheSignalThatKilledTheProgram) {
  RunResult result;
  result.program.signal = 11;

  EXPECT_EQ(Parsed(result).at("program"), json({{"exit_code", nullptr}, {"signal", 11}}));
}

TEST(JsonReportTest, TellsWhoKnewTheBoundaries) {
  const auto boundaries = [](BoundarySource source) {
    return Parsed(RunOf({}, source)).at("tracing").at("boundaries");
  };
  EXPECT_EQ(boundaries(BoundarySource::kListener), "listener");
  EXPECT_EQ(boundaries(BoundarySource::kStream), "stream");
  EXPECT_EQ(boundaries(BoundarySource::kNone), "none");
}

TEST(JsonReportTest, CountsDropsAndCutStacksByReason) {
  RunResult result;
  result.tracing.generations = 2;
  result.tracing.drops = {{"map_full", 3}};
  result.tracing.stack_ends = {{"depth_limit", 7}};
  const json tracing = Parsed(result).at("tracing");

  EXPECT_EQ(tracing.at("generations"), 2);
  EXPECT_EQ(tracing.at("drops"), json({{"map_full", 3}}));
  EXPECT_EQ(tracing.at("stack_ends"), json({{"depth_limit", 7}}));
}

TEST(JsonReportTest, HasEmptyListsAndObjectsWhereThereIsNothing) {
  const json report = Parsed(RunResult{});

  EXPECT_EQ(report.at("windows"), json::array());
  EXPECT_EQ(report.at("arguments"), json::array());
  EXPECT_EQ(report.at("reasons"), json::array());
  EXPECT_EQ(report.at("tracing").at("drops"), json::object());
  EXPECT_EQ(WindowJson(sample::PassingTest("A.B")).at("findings"), json::array());
}

TEST(JsonReportTest, TellsTimesInSeconds) {
  EXPECT_DOUBLE_EQ(Parsed(RunOf({})).at("wall_seconds").get<double>(), 2.31);
  EXPECT_DOUBLE_EQ(Parsed(RunOf({})).at("gating_seconds").get<double>(), 0.041);
}

TEST(JsonReportTest, TellsHowLongTestsWereRepeated) {
  RunResult result;
  result.confirming = std::chrono::milliseconds(1500);

  EXPECT_DOUBLE_EQ(Parsed(result).at("confirming_seconds").get<double>(), 1.5);
}

TEST(JsonReportTest, TellsWhatIsLostRetainedAndAllowed) {
  WindowResult window = FailingTest();
  window.lost = {1, 2};
  window.retained = {3, 4};
  window.allowed = {5, 6};
  const json written = WindowJson(window);

  EXPECT_EQ(written.at("lost"), json({{"bytes", 1}, {"blocks", 2}}));
  EXPECT_EQ(written.at("retained"), json({{"bytes", 3}, {"blocks", 4}}));
  EXPECT_EQ(written.at("allowed"), json({{"bytes", 5}, {"blocks", 6}}));
}

TEST(JsonReportTest, TellsResourcesWhereTheyWereMeasured) {
  WindowResult window = FailingTest();
  window.file_descriptors = 0;
  window.threads = 2;
  window.left_behind = {"thread 11 'worker'"};
  window.reach_problem = "the process cannot be stopped";
  const json written = WindowJson(window);

  EXPECT_EQ(written.at("file_descriptors"), 0);
  EXPECT_EQ(written.at("threads"), 2);
  EXPECT_EQ(written.at("left_behind"), json({"thread 11 'worker'"}));
  EXPECT_EQ(written.at("reach_problem"), "the process cannot be stopped");
}

TEST(JsonReportTest, TellsWhatIsMappedByCallSite) {
  WindowResult window = FailingTest();
  window.mapped = {4096, 1};
  window.reserved_bytes = 8192;
  window.mappings = {sample::PoolFinding()};
  window.mappings[0].kind = AllocationKind::kMappedFile;
  const json written = WindowJson(window);

  EXPECT_EQ(written.at("mapped_bytes"), 4096);
  EXPECT_EQ(written.at("mapped_blocks"), 1);
  EXPECT_EQ(written.at("reserved_bytes"), 8192);
  EXPECT_EQ(written.at("mappings").at(0).at("kind"), "mapped file");
}

TEST(JsonReportTest, TellsThatNothingIsMappedWhereThatIsLimited) {
  WindowResult window = FailingTest();
  sample::ChangeBudget(window, [](AppliedBudget& budget) { budget.mapped.bytes = AppliedLimit{}; });

  EXPECT_EQ(WindowJson(window).at("mapped_bytes"), 0);
}

TEST(JsonReportTest, LeavesOutWhatWasNotMeasured) {
  const json written = WindowJson(FailingTest());

  for (const char* const key :
       {"mapped_bytes", "mapped_blocks", "reserved_bytes", "mappings", "file_descriptors",
        "threads", "temporary", "made_by", "left_behind", "reach_problem", "free_errors",
        "measuring_windows"}) {
    EXPECT_FALSE(written.contains(key)) << key;
  }
}

TEST(JsonReportTest, TellsAFreeingErrorWithBothStacks) {
  WindowResult window = FailingTest();
  window.free_errors = {{"freed twice, by free()", sample::PoolFinding(), {}}};
  const json error = WindowJson(window).at("free_errors").at(0);

  EXPECT_EQ(error.at("text"), "freed twice, by free()");
  EXPECT_EQ(error.at("freed_at").at("stack").size(), sample::PoolStack().size());
  EXPECT_EQ(error.at("made_at").at("stack"), json::array());
}

TEST(JsonReportTest, NamesTheComponentWhoseLimitIsExceeded) {
  const auto component = [](const WindowResult& window) {
    return WindowJson(window).at("violations").at(0).at("component");
  };
  EXPECT_EQ(component(FailingTest()), "net");
  EXPECT_EQ(component(sample::FailingUncoveredTest()), nullptr);
}

TEST(JsonReportTest, TellsWhatIsKnownOfAFinding) {
  Finding finding = sample::RetainedFinding(Disposition::kAllowed);
  finding.explanation = "one socket is pooled";
  finding.holder = "g_pool";
  finding.series = {1, 0, -1};
  finding.series_bytes = {64, 0, -64};
  finding.allowance = "net.json:7";
  finding.component = "net";
  finding.thread = "thread 'worker'";
  const json written = FindingJson(finding);

  EXPECT_EQ(written.at("disposition"), "allowed");
  EXPECT_EQ(written.at("explanation"), "one socket is pooled");
  EXPECT_EQ(written.at("reach"), "retained");
  EXPECT_EQ(written.at("holder"), "g_pool");
  EXPECT_EQ(written.at("series"), json({1, 0, -1}));
  EXPECT_EQ(written.at("series_bytes"), json({64, 0, -64}));
  EXPECT_EQ(written.at("allowance"), "net.json:7");
  EXPECT_EQ(written.at("component"), "net");
  EXPECT_EQ(written.at("thread"), "thread 'worker'");
}

TEST(JsonReportTest, LeavesOutWhatIsNotKnownOfAFinding) {
  const json written = FindingJson(sample::PoolFinding());

  for (const char* const key : {"explanation", "reach", "holder", "series", "series_bytes",
                                "allowance", "component", "thread"}) {
    EXPECT_FALSE(written.contains(key)) << key;
  }
}

TEST(JsonReportTest, NamesEachDisposition) {
  const auto word = [](Disposition disposition) {
    return FindingJson(sample::RetainedFinding(disposition)).at("disposition");
  };
  EXPECT_EQ(word(Disposition::kOutstanding), "outstanding");
  EXPECT_EQ(word(Disposition::kFramework), "framework");
  EXPECT_EQ(word(Disposition::kAllowed), "allowed");
  EXPECT_EQ(word(Disposition::kOtherThread), "other_thread");
  EXPECT_EQ(word(Disposition::kReplaced), "replaced");
  EXPECT_EQ(word(Disposition::kReleasedLater), "released_later");
  EXPECT_EQ(word(Disposition::kOneTime), "one_time");
  EXPECT_EQ(word(Disposition::kBounded), "bounded");
  EXPECT_EQ(word(Disposition::kSteady), "steady");
  EXPECT_EQ(word(Disposition::kUnconfirmed), "unconfirmed");
}

TEST(JsonReportTest, NamesEachReach) {
  const auto word = [](Reach reach) {
    Finding finding = sample::PoolFinding();
    finding.reach = reach;
    return FindingJson(finding).at("reach");
  };
  EXPECT_EQ(word(Reach::kLost), "lost");
  EXPECT_EQ(word(Reach::kIndirectlyLost), "indirectly_lost");
  EXPECT_EQ(word(Reach::kRetained), "retained");
}

TEST(JsonReportTest, TellsATestsAmounts) {
  WindowResult window = FailingTest();
  window.framework = {160, 1};
  window.growth = {-64, -1};
  const json written = WindowJson(window);

  EXPECT_EQ(written.at("outstanding"), json({{"bytes", 128}, {"blocks", 2}}));
  EXPECT_EQ(written.at("framework"), json({{"bytes", 160}, {"blocks", 1}}));
  EXPECT_EQ(written.at("growth"), json({{"bytes", -64}, {"blocks", -1}}));
  EXPECT_EQ(written.at("allocated"), json({{"bytes", 4096}, {"blocks", 31}}));
}

TEST(JsonReportTest, TellsATestsResult) {
  const auto result = [](TestStatus status) {
    WindowResult window = sample::PassingTest("A.B");
    window.status = status;
    return WindowJson(window).at("test_result");
  };
  EXPECT_EQ(result(TestStatus::kPassed), "passed");
  EXPECT_EQ(result(TestStatus::kFailed), "failed");
  EXPECT_EQ(result(TestStatus::kSkipped), "skipped");
  EXPECT_EQ(result(TestStatus::kNotPassed), "not_passed");
  EXPECT_EQ(result(TestStatus::kCrashed), "crashed");
}

TEST(JsonReportTest, TellsNoResultWhereThereIsNone) {
  WindowResult window = sample::PassingTest("A.B");
  window.status = TestStatus::kNone;

  EXPECT_FALSE(WindowJson(window).contains("test_result"));
  EXPECT_FALSE(WindowJson(sample::ProgramWindow()).contains("test_result"));
}

TEST(JsonReportTest, NamesEachKindOfWindow) {
  WindowResult window = sample::PassingTest("A");
  EXPECT_EQ(WindowJson(window).at("kind"), "test");
  window.kind = WindowKind::kSuite;
  EXPECT_EQ(WindowJson(window).at("kind"), "suite");
  window.kind = WindowKind::kProgram;
  EXPECT_EQ(WindowJson(window).at("kind"), "program");
}

TEST(JsonReportTest, NamesEachVerdictOfAWindow) {
  WindowResult window = sample::PassingTest("A.B");
  EXPECT_EQ(WindowJson(window).at("verdict"), "pass");
  window.verdict = Verdict::kOverBudget;
  EXPECT_EQ(WindowJson(window).at("verdict"), "over_budget");
  window.verdict = Verdict::kInconclusive;
  EXPECT_EQ(WindowJson(window).at("verdict"), "inconclusive");
  window.verdict = Verdict::kNotGated;
  EXPECT_EQ(WindowJson(window).at("verdict"), "not_gated");
  window.verdict = Verdict::kUnconfirmed;
  EXPECT_EQ(WindowJson(window).at("verdict"), "unconfirmed");
}

TEST(JsonReportTest, LeavesOutReasonAndSourceWhereThereIsNone) {
  const json window = WindowJson(sample::PassingTest("A.B"));

  EXPECT_FALSE(window.contains("reason"));
  EXPECT_FALSE(window.contains("source_file"));
  EXPECT_FALSE(window.contains("source_line"));
}

TEST(JsonReportTest, TellsReasonAndSourceWhereTheyAreKnown) {
  WindowResult window = sample::InconclusiveTest("A.B", "timed out");
  window.source_file = "a_test.cc";
  window.source_line = 7;
  const json written = WindowJson(window);

  EXPECT_EQ(written.at("reason"), "timed out");
  EXPECT_EQ(written.at("source_file"), "a_test.cc");
  EXPECT_EQ(written.at("source_line"), 7);
}

TEST(JsonReportTest, HasNullForNoComponentAndNoOwner) {
  const json window = WindowJson(sample::PassingTest("A.B"));

  EXPECT_EQ(window.at("component"), nullptr);
  EXPECT_EQ(window.at("owner"), nullptr);
}

TEST(JsonReportTest, NamesTheLimitThatIsExceededAndItsLine) {
  WindowResult window = FailingTest();
  window.violations[0].limit.source.reason = "one socket is pooled";

  EXPECT_EQ(WindowJson(window).at("violations").at(0), json({{"metric", "outstanding_bytes"},
                                                             {"actual", 128},
                                                             {"limit", 0},
                                                             {"file", "budgets/net.leakgate.json"},
                                                             {"line", 14},
                                                             {"reason", "one socket is pooled"},
                                                             {"component", "net"}}));
}

TEST(JsonReportTest, HasNullForTheFileOfTheDefaultBudget) {
  const json violation = WindowJson(sample::FailingUncoveredTest()).at("violations").at(0);

  EXPECT_EQ(violation.at("file"), nullptr);
  EXPECT_EQ(violation.at("line"), nullptr);
  EXPECT_EQ(violation.at("reason"), nullptr);
}

TEST(JsonReportTest, TellsAFindingsAmountKindAndUserFrame) {
  const json finding = FindingJson(sample::PoolFinding({64, 1}));

  EXPECT_EQ(finding.at("bytes"), 64);
  EXPECT_EQ(finding.at("blocks"), 1);
  EXPECT_EQ(finding.at("kind"), "new");
  EXPECT_EQ(finding.at("user_frame"), 2);
  EXPECT_EQ(finding.at("stack_end"), "outermost");
  EXPECT_FALSE(finding.contains("framework_rule"));
}

TEST(JsonReportTest, NamesTheRuleThatMakesAFindingTheFrameworks) {
  const json finding = FindingJson(sample::FrameworkFinding({160, 1}, "gmock-registry"));

  EXPECT_EQ(finding.at("framework_rule"), "gmock-registry");
  EXPECT_EQ(finding.at("user_frame"), nullptr);
}

TEST(JsonReportTest, NamesEachKindOfAllocation) {
  const auto kind = [](AllocationKind value) {
    Finding finding = sample::PoolFinding();
    finding.kind = value;
    return FindingJson(finding).at("kind");
  };
  EXPECT_EQ(kind(AllocationKind::kMalloc), "malloc");
  EXPECT_EQ(kind(AllocationKind::kCalloc), "calloc");
  EXPECT_EQ(kind(AllocationKind::kRealloc), "realloc");
  EXPECT_EQ(kind(AllocationKind::kMemalign), "memalign");
  EXPECT_EQ(kind(AllocationKind::kNew), "new");
  EXPECT_EQ(kind(AllocationKind::kNewArray), "new[]");
  EXPECT_EQ(kind(AllocationKind::kMapped), "mapped");
  EXPECT_EQ(kind(AllocationKind::kMappedFile), "mapped file");
  EXPECT_EQ(kind(AllocationKind::kMappedShared), "shared memory");
  EXPECT_EQ(kind(AllocationKind::kThreadStack), "thread stack");
}

TEST(JsonReportTest, NamesEachEndOfAStack) {
  const auto end = [](UnwindEnd value) {
    Finding finding = sample::PoolFinding();
    finding.stack_end = value;
    return FindingJson(finding).at("stack_end");
  };
  EXPECT_EQ(end(UnwindEnd::kDepthLimit), "depth_limit");
  EXPECT_EQ(end(UnwindEnd::kNoUnwindInfo), "no_unwind_info");
  EXPECT_EQ(end(UnwindEnd::kBadUnwindInfo), "bad_unwind_info");
  EXPECT_EQ(end(UnwindEnd::kUnreadableStack), "unreadable_stack");
  EXPECT_EQ(end(UnwindEnd::kNotAStack), "not_a_stack");
  EXPECT_EQ(end(UnwindEnd::kTableFull), "table_full");
}

TEST(JsonReportTest, KeepsEveryFrameInnermostFirst) {
  const json stack = FindingJson(sample::PoolFinding()).at("stack");

  EXPECT_EQ(stack.size(), sample::PoolStack().size());
  EXPECT_EQ(stack.at(2), json({{"function", "net::Pool::Grow(unsigned long)"},
                               {"file", "/home/me/project/src/net/pool.cc"},
                               {"line", 88},
                               {"module", "/home/me/project/build/http_test"},
                               {"offset", "0x1a2b"},
                               {"inlined", false}}));
}

TEST(JsonReportTest, ReplacesWhatIsNoUtf8InNames) {
  RunResult result = RunOf({sample::PassingTest("A.\xff")});
  result.arguments = {"\xc3"};
  result.tracing.drops = {{"\xfe", 1}};
  const json report = Parsed(result);

  EXPECT_EQ(report.at("windows").at(0).at("name"), "A.\uFFFD");
  EXPECT_EQ(report.at("arguments").at(0), "\uFFFD");
  EXPECT_TRUE(report.at("tracing").at("drops").contains("\uFFFD"));
}

}  // namespace
}  // namespace leakgate
