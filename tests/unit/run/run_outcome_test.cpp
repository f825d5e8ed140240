#include "runner/run/run_outcome.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

WindowResult TestWindow(const std::string& name, Verdict verdict,
                        TestStatus status = TestStatus::kPassed, int iteration = 1) {
  WindowResult window;
  window.name = name;
  window.verdict = verdict;
  window.status = status;
  window.iteration = iteration;
  return window;
}

RunResult RunWith(const std::vector<WindowResult>& windows) {
  RunResult result;
  result.windows = windows;
  result.program.exit_code = 0;
  return result;
}

TEST(OverallVerdictTest, PassesWhereAllPassOrAreNotGated) {
  EXPECT_EQ(OverallVerdict(
                RunWith({TestWindow("a", Verdict::kPass), TestWindow("b", Verdict::kNotGated)})),
            Verdict::kPass);
}

TEST(OverallVerdictTest, IsInconclusiveWhereOneWindowIs) {
  EXPECT_EQ(OverallVerdict(RunWith(
                {TestWindow("a", Verdict::kPass), TestWindow("b", Verdict::kInconclusive)})),
            Verdict::kInconclusive);
}

TEST(OverallVerdictTest, IsInconclusiveForAReasonOfTheWholeRun) {
  RunResult result = RunWith({TestWindow("a", Verdict::kPass)});
  result.reasons = {"nothing was traced"};
  EXPECT_EQ(OverallVerdict(result), Verdict::kInconclusive);
}

TEST(OverallVerdictTest, PutsOverBudgetAboveInconclusive) {
  EXPECT_EQ(OverallVerdict(RunWith(
                {TestWindow("a", Verdict::kInconclusive), TestWindow("b", Verdict::kOverBudget)})),
            Verdict::kOverBudget);
}

TEST(OverallVerdictTest, IsUnconfirmedWhereOneWindowIsAndAllElseIsMeasured) {
  EXPECT_EQ(OverallVerdict(
                RunWith({TestWindow("a", Verdict::kPass), TestWindow("b", Verdict::kUnconfirmed)})),
            Verdict::kUnconfirmed);
}

TEST(OverallVerdictTest, PutsInconclusiveAboveUnconfirmed) {
  EXPECT_EQ(OverallVerdict(RunWith(
                {TestWindow("a", Verdict::kUnconfirmed), TestWindow("b", Verdict::kInconclusive)})),
            Verdict::kInconclusive);
}

TEST(OverallVerdictTest, FailsForAnEntryThatHasExpired) {
  RunResult result = RunWith({TestWindow("a", Verdict::kPass)});
  result.failures = {"net.json:3: expired"};
  EXPECT_EQ(OverallVerdict(result), Verdict::kOverBudget);
}

RunResult InMode(GateMode mode, Verdict verdict, const std::vector<std::string>& warnings = {}) {
  RunResult result = RunWith({TestWindow("a", verdict)});
  result.mode = mode;
  result.warnings = warnings;
  result.verdict = OverallVerdict(result);
  return result;
}

TEST(StrictnessTest, FailsWhatIsUnconfirmed) {
  EXPECT_EQ(InMode(GateMode::kStrict, Verdict::kUnconfirmed).verdict, Verdict::kOverBudget);
}

TEST(StrictnessTest, FailsWhatIsWarnedOf) {
  EXPECT_EQ(InMode(GateMode::kStrict, Verdict::kPass, {"not used"}).verdict, Verdict::kOverBudget);
  EXPECT_EQ(InMode(GateMode::kGate, Verdict::kPass, {"not used"}).verdict, Verdict::kPass);
}

TEST(StrictnessTest, PassesWhatPasses) {
  EXPECT_EQ(InMode(GateMode::kStrict, Verdict::kPass).verdict, Verdict::kPass);
}

TEST(WarnOnlyTest, KeepsTheVerdictAndExitsWithZero) {
  for (const Verdict verdict : {Verdict::kOverBudget, Verdict::kInconclusive}) {
    const RunResult result = InMode(GateMode::kWarnOnly, verdict);
    EXPECT_EQ(result.verdict, verdict);
    EXPECT_EQ(FinalExitCode(result), 0);
  }
}

TEST(WarnOnlyTest, KeepsTheProgramsOwnExitCode) {
  RunResult result = InMode(GateMode::kWarnOnly, Verdict::kOverBudget);
  result.program.exit_code = 7;
  EXPECT_EQ(FinalExitCode(result), 7);
}

TEST(UnconfirmedRunTest, ExitsWithZero) {
  EXPECT_EQ(FinalExitCode(InMode(GateMode::kGate, Verdict::kUnconfirmed)), 0);
}

struct ExitCase {
  Verdict verdict;
  ProgramExit program;
  int exit_code;
};

class FinalExitCodeTest : public testing::TestWithParam<ExitCase> {};

TEST_P(FinalExitCodeTest, ReplacesOnlyTheProgramsZero) {
  RunResult result;
  result.verdict = GetParam().verdict;
  result.program = GetParam().program;
  EXPECT_EQ(FinalExitCode(result), GetParam().exit_code);
}

INSTANTIATE_TEST_SUITE_P(, FinalExitCodeTest,
                         testing::Values(ExitCase{Verdict::kPass, {0, {}}, 0},
                                         ExitCase{Verdict::kOverBudget, {0, {}}, 1},
                                         ExitCase{Verdict::kInconclusive, {0, {}}, 3},
                                         ExitCase{Verdict::kPass, {7, {}}, 7},
                                         ExitCase{Verdict::kOverBudget, {255, {}}, 255},
                                         ExitCase{Verdict::kInconclusive, {2, {}}, 2},
                                         ExitCase{Verdict::kOverBudget, {{}, 9}, 137}));

TEST(RefineStatusesTest, TellsSkippedFromFailed) {
  std::vector<WindowResult> windows = {TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed),
                                       TestWindow("S.B", Verdict::kPass, TestStatus::kNotPassed)};
  RefineStatuses({{"S.A", TestStatus::kSkipped}, {"S.B", TestStatus::kFailed}}, {1, {}}, windows);
  EXPECT_EQ(windows[0].status, TestStatus::kSkipped);
  EXPECT_EQ(windows[1].status, TestStatus::kFailed);
}

TEST(RefineStatusesTest, ConcernsTheLastIterationOnly) {
  std::vector<WindowResult> windows = {
      TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed, 1),
      TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed, 2)};
  RefineStatuses({{"S.A", TestStatus::kSkipped}}, {1, {}}, windows);
  EXPECT_EQ(windows[0].status, TestStatus::kNotPassed);
  EXPECT_EQ(windows[1].status, TestStatus::kSkipped);
}

// GoogleTest's stream says that it did not pass; a file that says otherwise is
// another run's.
TEST(RefineStatusesTest, NeverMakesAPassOfWhatDidNotPass) {
  std::vector<WindowResult> windows = {TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed)};
  RefineStatuses({{"S.A", TestStatus::kPassed}}, {1, {}}, windows);
  EXPECT_EQ(windows[0].status, TestStatus::kNotPassed);
}

TEST(RefineStatusesTest, OfAProgramThatExitsWithZeroNoTestHasFailed) {
  std::vector<WindowResult> windows = {
      TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed, 1),
      TestWindow("S.A", Verdict::kPass, TestStatus::kNotPassed, 2)};
  RefineStatuses({}, {0, {}}, windows);
  EXPECT_EQ(windows[0].status, TestStatus::kSkipped);
  EXPECT_EQ(windows[1].status, TestStatus::kSkipped);
}

TEST(NoteUnendedTest, MakesATestThatTheProgramDidNotSurviveInconclusive) {
  std::vector<WindowResult> windows = {
      TestWindow("S.A", Verdict::kOverBudget, TestStatus::kCrashed)};
  windows[0].violations = {Violation{}};
  NoteUnended({{}, 11}, windows);
  EXPECT_EQ(windows[0].verdict, Verdict::kInconclusive);
  EXPECT_EQ(windows[0].reason, "the program ended while the test ran");
  EXPECT_TRUE(windows[0].violations.empty());
}

TEST(NoteUnendedTest, LeavesAFreeingErrorCertain) {
  std::vector<WindowResult> windows = {
      TestWindow("S.A", Verdict::kOverBudget, TestStatus::kCrashed)};
  windows[0].free_errors.resize(1);
  NoteUnended({{}, 6}, windows);
  EXPECT_EQ(windows[0].verdict, Verdict::kOverBudget);
  EXPECT_EQ(windows[0].reason, "");
}

TEST(NoteUnendedTest, MakesTheWindowOfAKilledProgramInconclusive) {
  std::vector<WindowResult> windows = {TestWindow("net_test", Verdict::kPass, TestStatus::kNone)};
  windows[0].kind = WindowKind::kProgram;
  NoteUnended({{}, 9}, windows);
  EXPECT_EQ(windows[0].verdict, Verdict::kInconclusive);
}

TEST(NoteUnendedTest, LeavesTestsThatEndedAlone) {
  std::vector<WindowResult> windows = {TestWindow("S.A", Verdict::kOverBudget)};
  NoteUnended({{}, 9}, windows);
  EXPECT_EQ(windows[0].verdict, Verdict::kOverBudget);
}

RunResult StreamedRunWith(const std::vector<WindowResult>& windows) {
  RunResult result = RunWith(windows);
  result.tracing.boundaries = BoundarySource::kStream;
  return result;
}

TEST(DoubtWithoutTestsTest, NamesTheFilterThatChoosesNone) {
  RunResult result = StreamedRunWith({});
  EXPECT_EQ(DoubtWithoutTests(result, {"HOME=/root"}),
            "no test ran: the program has none; --allow-no-tests lets it pass");
  result.arguments = {"--gtest_brief=1", "--gtest_filter=Old.*"};
  EXPECT_THAT(DoubtWithoutTests(result, {"GTEST_FILTER=A.*"}),
              testing::StartsWith("no test ran: --gtest_filter=Old.* chooses none; "));
  result.arguments = {};
  EXPECT_THAT(DoubtWithoutTests(result, {"GTEST_FILTER=A.*"}),
              testing::StartsWith("no test ran: GTEST_FILTER=A.* chooses none; "));
}

TEST(DoubtWithoutTestsTest, IsNoneWhereNoTestWasToRun) {
  EXPECT_EQ(DoubtWithoutTests(RunWith({}), {}), "");
  EXPECT_EQ(DoubtWithoutTests(StreamedRunWith({TestWindow("a", Verdict::kPass)}), {}), "");
  RunResult shard = StreamedRunWith({});
  shard.shard = {2, 3};
  EXPECT_EQ(DoubtWithoutTests(shard, {}), "");
  RunResult list = StreamedRunWith({});
  list.arguments = {"--gtest_list_tests"};
  EXPECT_EQ(DoubtWithoutTests(list, {}), "");
  RunResult failed = StreamedRunWith({});
  failed.program.exit_code = 1;
  EXPECT_EQ(DoubtWithoutTests(failed, {}), "");
}

TEST(RanNoTestToItsEndTest, IsTrueWhereAllWereSkipped) {
  EXPECT_TRUE(
      RanNoTestToItsEnd(StreamedRunWith({TestWindow("a", Verdict::kPass, TestStatus::kSkipped),
                                         TestWindow("b", Verdict::kPass, TestStatus::kSkipped)})));
}

TEST(RanNoTestToItsEndTest, IsTrueWhereNoneWasSelected) {
  EXPECT_TRUE(RanNoTestToItsEnd(StreamedRunWith({})));
}

TEST(RanNoTestToItsEndTest, IsFalseWhereOnePassed) {
  EXPECT_FALSE(RanNoTestToItsEnd(StreamedRunWith(
      {TestWindow("a", Verdict::kPass, TestStatus::kSkipped), TestWindow("b", Verdict::kPass)})));
}

TEST(RanNoTestToItsEndTest, TakesWhatDidNotPassAsFailedWhereTheProgramFailed) {
  RunResult result = StreamedRunWith({TestWindow("a", Verdict::kPass, TestStatus::kNotPassed)});
  result.program.exit_code = 1;
  EXPECT_FALSE(RanNoTestToItsEnd(result));
}

TEST(RanNoTestToItsEndTest, IsFalseOfAProgramWithoutGoogleTest) {
  EXPECT_FALSE(RanNoTestToItsEnd(RunWith({})));
}

}  // namespace
}  // namespace leakgate
