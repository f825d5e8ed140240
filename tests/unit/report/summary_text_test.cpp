#include "runner/report/summary_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingProgram;
using sample::FailingTest;
using sample::FailingUncoveredTest;
using sample::InconclusiveTest;
using sample::PassingTest;
using sample::ProgramWindow;
using sample::RunOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kFullText[] = "fix it, or allow it";

std::string Summary(const RunResult& result) {
  return SummaryText(result, {Colour::kOff, sample::kProject});
}

std::ptrdiff_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(SummaryTest, IsOneLineWhenEverythingPassed) {
  EXPECT_EQ(Summary(RunOf({ProgramWindow(), PassingTest("A.B"), PassingTest("A.C")})),
            "leakgate: 2 tests: 2 pass; gating took 41 ms of 2.31 s\n");
}

std::string QuietSummary(const RunResult& result) {
  return SummaryText(result, {Colour::kOff, sample::kProject}, SummaryDetail::kQuiet);
}

TEST(SummaryTest, IsNothingWhenQuietAndEverythingPassed) {
  EXPECT_EQ(QuietSummary(RunOf({ProgramWindow(), PassingTest("A.B")})), "");
}

TEST(SummaryTest, LeavesOutWhatPassedWhenQuiet) {
  WindowResult passing = PassingTest("A.B");
  passing.findings = {sample::RetainedFinding(Disposition::kOneTime)};
  RunResult result = RunOf({passing, FailingTest()}, BoundarySource::kStream);
  result.warnings = {"net.leakgate.json:3: nothing used this allowance"};

  const std::string text = QuietSummary(result);

  EXPECT_THAT(text, HasSubstr("Failure in HttpTest.KeepAlive"));
  EXPECT_THAT(text, HasSubstr("2 tests: 1 pass, 1 over budget"));
  EXPECT_THAT(text, Not(HasSubstr("not counted: 1 one-time")));
  EXPECT_THAT(text, Not(HasSubstr("warning: ")));
}

TEST(SummaryTest, TellsWhyARunIsInconclusiveWhenQuiet) {
  RunResult result = RunOf({InconclusiveTest("A.B", "why")});
  result.verdict = Verdict::kInconclusive;
  EXPECT_THAT(QuietSummary(result), HasSubstr("inconclusive: why (A.B)\n"));
}

TEST(SummaryTest, TellsWhatPassedAndWhatItCostWhenVerbose) {
  WindowResult passing = PassingTest("A.B");
  passing.findings = {sample::RetainedFinding(Disposition::kOneTime)};
  passing.end = std::chrono::milliseconds(3);
  passing.peak_live_bytes = 4000;

  const std::string text =
      SummaryText(RunOf({passing}), {Colour::kOff, sample::kProject}, SummaryDetail::kVerbose);

  EXPECT_THAT(text, EndsWith("  not counted: 1 one-time initialisation:\n"
                             "    64 B in 1 block by net::Pool::Grow (src/net/pool.cc:88): "
                             "retained, one-time initialisation (A.B)\n"
                             "  slowest: A.B 3 ms\n"
                             "  heaviest: A.B 4000 B at its peak\n"));
}

TEST(SummaryTest, IsOneLineWhereTheProgramSaysWhyItIsNotGated) {
  WindowResult program = ProgramWindow();
  program.reason = "no budget file sets limits for the program window";

  EXPECT_EQ(Lines(Summary(RunOf({program, PassingTest("A.B")}))), 1);
}

TEST(SummaryTest, TellsWholeFailuresInTheOrderOfTheRun) {
  WindowResult later = FailingTest("B.First");
  sample::ChangeBudget(later, [](AppliedBudget& budget) { budget.component = "zlib"; });

  const std::string text = Summary(RunOf({later, FailingTest()}, BoundarySource::kStream));

  EXPECT_LT(text.find("Failure in B.First"), text.find("Failure in HttpTest.KeepAlive"));
}

TEST(SummaryTest, MentionsTheFrameworkShortlyIfItKeptAnything) {
  WindowResult first = PassingTest("A.B");
  WindowResult second = PassingTest("A.C");
  first.framework = {160, 1};
  second.framework = {112, 1};

  const std::string text = Summary(RunOf({first, second}));

  EXPECT_THAT(text, EndsWith("of 2.31 s; framework 272 B not counted\n"));
  EXPECT_EQ(Lines(text), 1);
}

// The listener has printed it while the test ran.
TEST(SummaryTest, TellsAFailureAgainOfWhichThereIsMoreByNow) {
  RunResult run = RunOf({FailingTest("A.B")}, BoundarySource::kListener);
  EXPECT_THAT(Summary(run), Not(HasSubstr("Failure in A.B")));
  run.windows[0].failed_inside_for.front().actual -= 1;
  EXPECT_THAT(Summary(run), HasSubstr("Failure in A.B"));
}

WindowResult FailingProcess(const std::string& started_by) {
  WindowResult window = FailingTest("http_server");
  window.kind = WindowKind::kProcess;
  window.started_by = started_by;
  window.was_failed_inside = false;
  return window;
}

TEST(SummaryTest, NamesAProcessByTheTestThatStartedIt) {
  const std::string text = Summary(RunOf({FailingProcess("A.B"), FailingProcess("")}));
  EXPECT_THAT(text,
              HasSubstr("Failure in 2 places: process http_server of A.B, process http_server\n"));
  EXPECT_THAT(text, HasSubstr("; 2 processes over budget;"));
}

TEST(SummaryTest, TellsProcessesThatAreAlikeOnce) {
  const std::string text = Summary(RunOf({FailingProcess("A.B"), FailingProcess("A.B")}));
  EXPECT_THAT(text, HasSubstr("process http_server of A.B in 2 processes\n"));
}

TEST(SummaryTest, CountsEachVerdict) {
  EXPECT_THAT(Summary(RunOf({PassingTest("A.B"), FailingTest(), InconclusiveTest("A.D", "why"),
                             InconclusiveTest("A.E", "why")})),
              StartsWith("leakgate: 4 tests: 1 pass, 1 over budget, 2 inconclusive; gating took"));
}

TEST(SummaryTest, CountsTestsThatNoBudgetLimits) {
  WindowResult window = PassingTest("A.B");
  window.verdict = Verdict::kNotGated;
  window.reason = "skipped";

  const std::string text = Summary(RunOf({window}));

  EXPECT_THAT(text, StartsWith("leakgate: 1 test: 1 not gated; "));
  EXPECT_THAT(text, HasSubstr("\n  not gated: skipped (A.B)\n"));
}

TEST(SummaryTest, TellsRunsFromTestsWhereTestsAreRepeated) {
  EXPECT_THAT(Summary(RunOf({PassingTest("A.B", 1), PassingTest("A.B", 2), PassingTest("A.C")})),
              StartsWith("leakgate: 3 runs of 2 tests: 3 pass; "));
}

TEST(SummaryTest, MentionsSuitesAndTheProgramOnlyIfTheyAreNoPass) {
  WindowResult suite = FailingTest("HttpTest");
  suite.kind = WindowKind::kSuite;

  EXPECT_THAT(Summary(RunOf({PassingTest("A.B"), suite, FailingProgram()})),
              HasSubstr("leakgate: 1 test: 1 pass; 1 suite over budget; program over budget; "));
}

TEST(SummaryTest, SaysThatNoTestRan) {
  EXPECT_THAT(Summary(RunOf({ProgramWindow(Verdict::kPass)})),
              StartsWith("leakgate: no test ran; program pass; gating took"));
}

TEST(SummaryTest, SaysThatThereIsTheProgramWindowOnly) {
  EXPECT_THAT(
      Summary(RunOf({ProgramWindow()}, BoundarySource::kNone)),
      StartsWith(
          "leakgate: no test boundaries, so only the program was judged; program not gated; "));
}

TEST(SummaryTest, NeverReadsAsAPassWhenTheRunIsInconclusive) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.verdict = Verdict::kInconclusive;
  result.reasons = {"3 allocations were not recorded"};

  const std::string text = Summary(result);

  EXPECT_THAT(text, StartsWith("leakgate: inconclusive; 1 test: 1 pass; "));
  EXPECT_THAT(text, HasSubstr("\n  inconclusive: 3 allocations were not recorded\n"));
}

TEST(SummaryTest, ListsFailingWindowsByComponent) {
  WindowResult disk = FailingTest("DiskTest.Reopen");
  sample::ChangeBudget(disk, [](AppliedBudget& budget) { budget.component = "storage"; });
  disk.violations[0].component = "storage";
  disk.violations[0].amount = {48, 1};

  EXPECT_THAT(Summary(RunOf({disk, FailingTest(), FailingUncoveredTest("A.B")})),
              EndsWith("s\n"
                       "  -        128 B in 2 blocks lost         -           A.B\n"
                       "  net      128 B in 2 blocks outstanding  budget 0 B  HttpTest.KeepAlive\n"
                       "  storage  48 B in 1 block outstanding    budget 0 B  DiskTest.Reopen\n"));
}

TEST(SummaryTest, ListsOutstandingAndGrowthOfOneWindow) {
  WindowResult window = FailingTest();
  window.violations.push_back(sample::Over(Metric::kGrowthBytes, 128, 64, {"net.json", 3, ""}));

  EXPECT_THAT(
      Summary(RunOf({window})),
      HasSubstr("\n  net  growth +128 B (+2 blocks)      budget 64 B  HttpTest.KeepAlive\n"));
}

TEST(SummaryTest, ListsATestThatFailsInManyIterationsOnceByItsLargest) {
  WindowResult larger = FailingTest("A.B", 3);
  larger.outstanding = larger.violations[0].amount = {256, 4};

  const std::string text = Summary(RunOf({FailingTest("A.B", 2), larger, FailingTest("A.B", 4)}));

  EXPECT_THAT(text, HasSubstr("\n  net  256 B in 4 blocks outstanding  budget 0 B  "
                              "A.B in 3 iterations, the first #2\n"));
  EXPECT_EQ(Lines(text), 2);
}

TEST(SummaryTest, ListsOthersCodeUnderTheirComponent) {
  WindowResult window = FailingTest();
  window.violations[0].component = "pool";

  EXPECT_THAT(
      Summary(RunOf({window})),
      EndsWith("\n  pool  128 B in 2 blocks outstanding  budget 0 B  HttpTest.KeepAlive\n"));
}

TEST(SummaryTest, ListsATestThatFailsByAFreeingErrorAlone) {
  WindowResult window = FailingTest();
  window.violations.clear();
  window.free_errors = {{"freed twice, by free()", {}, {}}};

  EXPECT_THAT(Summary(RunOf({window})),
              EndsWith("\n  net  1 freeing error  never allowed  HttpTest.KeepAlive\n"));
}

TEST(SummaryTest, TellsWhyATestIsUnconfirmed) {
  const std::string text = Summary(RunOf({sample::UnconfirmedTest("A.B")}));

  EXPECT_THAT(text, StartsWith("leakgate: 1 test: 1 unconfirmed; "));
  EXPECT_THAT(text, HasSubstr("\n  unconfirmed: 64 B in 1 block retained by net::Pool::Grow: it "
                              "hung when run alone (A.B)\n    A.B: free it in the test, or give "
                              "its repetitions more time"));
}

TEST(SummaryTest, TellsWhatIsLeftBehindAndPasses) {
  WindowResult window = PassingTest("A.B");
  window.findings = {sample::RetainedFinding(Disposition::kOneTime)};

  EXPECT_THAT(Summary(RunOf({window})),
              EndsWith("\n  not counted: 1 one-time initialisation; the JSON report has each\n"));
}

TEST(SummaryTest, TellsHowLongItConfirmed) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.confirming = std::chrono::milliseconds(120);

  EXPECT_THAT(Summary(result), HasSubstr("; gating took 41 ms and confirming 120 ms of 2.31 s\n"));
}

TEST(SummaryTest, TellsEntriesThatFailAndThatAreWarnedOf) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.verdict = Verdict::kOverBudget;
  result.failures = {"net.json:3: expired"};
  result.warnings = {"net.json:7: not used"};

  EXPECT_THAT(Summary(result),
              EndsWith("\n  over budget: net.json:3: expired\n  warning: net.json:7: not used\n"));
}

TEST(SummaryTest, SaysThatARunThatOnlyWarnsGatesNothing) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.mode = GateMode::kWarnOnly;

  EXPECT_THAT(Summary(result),
              EndsWith("\n  --warn-only: this run gates nothing, whatever it found\n"));
}

TEST(SummaryTest, SaysWhatFailsAStrictRunWhereNoWindowDoes) {
  RunResult result = RunOf({sample::UnconfirmedTest()});
  result.mode = GateMode::kStrict;
  result.verdict = Verdict::kOverBudget;

  EXPECT_THAT(Summary(result),
              EndsWith("\n  --strict: what is unconfirmed or unused fails the run\n"));
}

TEST(SummaryTest, DoesNotBlameStrictnessForAWindowThatFails) {
  RunResult result = RunOf({FailingTest()});
  result.mode = GateMode::kStrict;

  EXPECT_THAT(Summary(result), Not(HasSubstr("--strict")));
}

TEST(SummaryTest, NumbersTheIterationOfATestThatFailsOnce) {
  EXPECT_THAT(Summary(RunOf({PassingTest("A.B"), FailingTest("A.B", 2)})),
              HasSubstr("budget 0 B  A.B #2\n"));
}

TEST(SummaryTest, TellsTheWholeFailureWhereGoogleTestCouldNot) {
  const std::string text = Summary(RunOf({FailingTest()}, BoundarySource::kStream));

  EXPECT_THAT(text, StartsWith("src/net/pool.cc:88: Failure in HttpTest.KeepAlive\nleakgate: "));
  EXPECT_THAT(text, HasSubstr("\"reason\": \"...\" }\n\nleakgate: 1 test: 1 over budget; "));
}

TEST(SummaryTest, DoesNotRepeatWhatGoogleTestHasShown) {
  EXPECT_THAT(Summary(RunOf({FailingTest()})), Not(HasSubstr(kFullText)));
}

TEST(SummaryTest, TellsTheWholeFailureOfTheProgramAlways) {
  EXPECT_THAT(Summary(RunOf({FailingProgram()})), HasSubstr(kFullText));
}

TEST(SummaryTest, TellsTheWholeFailureOfATestThatCrashed) {
  WindowResult window = FailingTest();
  window.status = TestStatus::kCrashed;

  EXPECT_THAT(Summary(RunOf({window})), HasSubstr(kFullText));
}

TEST(SummaryTest, TellsARepeatedFailureOnceAndCountsIt) {
  const std::string text =
      Summary(RunOf({FailingTest("A.B", 1), FailingTest("A.B", 2)}, BoundarySource::kStream));

  EXPECT_EQ(text.find(kFullText), text.rfind(kFullText));
  EXPECT_THAT(text, HasSubstr("\n  fails in 2 iterations, the first #1\n\nleakgate: "));
}

TEST(SummaryTest, GroupsInconclusiveTestsByReason) {
  EXPECT_THAT(
      Summary(RunOf({InconclusiveTest("A.A", "timed out"), InconclusiveTest("A.B", "timed out"),
                     InconclusiveTest("A.C", "crashed")})),
      EndsWith("s\n  inconclusive: timed out (A.A, A.B)\n  inconclusive: crashed (A.C)\n"
               "  what helps: leakgate help troubleshooting\n"));
}

TEST(SummaryTest, NamesThreeInconclusiveTestsAndCountsTheRest) {
  EXPECT_THAT(Summary(RunOf({InconclusiveTest("A.A", "why"), InconclusiveTest("A.B", "why"),
                             InconclusiveTest("A.C", "why"), InconclusiveTest("A.D", "why"),
                             InconclusiveTest("A.E", "why")})),
              HasSubstr("inconclusive: why (A.A, A.B, A.C and 2 more)\n"));
}

TEST(SummaryTest, TellsAReasonOfTheRunAndOfAWindowOnce) {
  RunResult result = RunOf({InconclusiveTest("A.A", "timed out")});
  result.reasons = {"timed out"};

  EXPECT_THAT(Summary(result), EndsWith("s\n  inconclusive: timed out (A.A)\n"
                                        "  what helps: leakgate help troubleshooting\n"));
}

TEST(SummaryTest, AlwaysShowsWhatWasNotRecorded) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.tracing.drops = {{"map_full", 3}, {"reentered", 1}, {"unaligned", 0}};

  EXPECT_THAT(Summary(result), HasSubstr("\n  not recorded: 3 map_full, 1 reentered\n"));
}

TEST(SummaryTest, TellsHowAProgramEndedThatDidNotExitWithZero) {
  RunResult result = RunOf({PassingTest("A.B")});
  result.program = {.exit_code = {}, .signal = 11};
  result.exit_code = 139;

  EXPECT_THAT(Summary(result),
              EndsWith("\n  the program was killed by signal 11 (SIGSEGV); leakgate exits with "
                       "139\n"));
}

TEST(SummaryTest, EscapesControlCharactersWhereverTheyComeFrom) {
  WindowResult failing = FailingTest("Evil\x1b.Test");
  sample::ChangeBudget(failing, [](AppliedBudget& budget) { budget.component = "net\x1b"; });
  failing.violations[0].component = "net\x1b";
  RunResult result = RunOf({failing, InconclusiveTest("B\x1b.C", "why\x1b")});
  result.tracing.drops = {{"map\x1b", 1}};

  const std::string text = Summary(result);

  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("net\\x1b  128 B"));
  EXPECT_THAT(text, HasSubstr("Evil\\x1b.Test"));
  EXPECT_THAT(text, HasSubstr("why\\x1b (B\\x1b.C)"));
  EXPECT_THAT(text, HasSubstr("1 map\\x1b"));
}

TEST(SummaryTest, ColoursTheVerdicts) {
  const std::string text =
      SummaryText(RunOf({PassingTest("A.B"), FailingTest(), InconclusiveTest("A.C", "why")}),
                  {Colour::kOn, ""});

  EXPECT_THAT(text, HasSubstr("\x1b[32m1 pass\x1b[0m, \x1b[1;31m1 over budget\x1b[0m, "
                              "\x1b[33m1 inconclusive\x1b[0m"));
}

TEST(SummaryTest, HasTheSameColumnsWithColour) {
  const RunResult result = RunOf({FailingTest()});

  EXPECT_THAT(
      SummaryText(result, {Colour::kOn, ""}),
      HasSubstr("\n  net  128 B in 2 blocks outstanding  budget 0 B  HttpTest.KeepAlive\n"));
}

RunResult RunOfManyTests(int tests, int sites) {
  std::vector<WindowResult> windows;
  for (int i = 0; i < tests; ++i) {
    windows.push_back(FailingUncoveredTest("A.T" + std::to_string(i)));
    Finding& finding = windows.back().findings.front();
    finding.stack.Edit()[*finding.user_frame].line = i % sites;
  }
  return RunOf(windows, BoundarySource::kStream);
}

TEST(SummaryTest, TellsACauseOfManyTestsOnce) {
  const std::string text = Summary(RunOfManyTests(160, 4));
  EXPECT_THAT(Lines(text), testing::Le(60));
  EXPECT_THAT(text, HasSubstr("Failure in 40 tests: A.T0, A.T4, A.T8 and 37 more\n"));
  EXPECT_THAT(text, HasSubstr("160 tests: 160 over budget; from 4 causes; gating"));
  EXPECT_THAT(
      text,
      HasSubstr("  5120 B in 80 blocks lost  40 tests  net::Pool::Grow (src/net/pool.cc:3)\n"));
}

TEST(SummaryTest, SaysHowManyCausesItLeavesOut) {
  const std::string text = Summary(RunOfManyTests(100, 50));
  EXPECT_THAT(Lines(text), testing::Le(60));
  EXPECT_THAT(text, testing::ContainsRegex("\nand 4[0-9] more causes; --verbose and the reports"));
  EXPECT_THAT(text, HasSubstr("  and 40 more causes; --verbose lists all failing tests\n"));
}

// A limit of a file is of all that a test has: to allow what one call site left would not do.
TEST(SummaryTest, AllowsAllOfATestWhereAFileLimitsIt) {
  WindowResult both = FailingTest("A.Both");
  both.findings.push_back(sample::PoolFinding({28, 1}));
  both.findings.back().stack.Edit()[2].line = 7;
  const std::string text = Summary(RunOf({both, FailingTest("A.One")}, BoundarySource::kStream));
  EXPECT_THAT(text, HasSubstr("Failure in 2 tests: A.Both, A.One\n"));
  EXPECT_THAT(text, HasSubstr("\"limits\": { \"test\": { \"outstanding\": { \"bytes\": 128"));
}

TEST(SummaryTest, ATestThatAloneHasItsCausesIsToldWhole) {
  WindowResult window = FailingUncoveredTest("A.B");
  window.findings.push_back(sample::LostFinding({28, 1}));
  window.findings.back().stack.Edit()[2].line = 7;
  const std::string text = Summary(RunOf({window}, BoundarySource::kStream));
  EXPECT_EQ(text.find("Failure in"), text.rfind("Failure in"));
  EXPECT_THAT(text, HasSubstr("src/net/pool.cc:7"));
}

}  // namespace
}  // namespace leakgate
