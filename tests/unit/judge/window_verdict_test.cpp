#include "runner/judge/window_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::LostFinding;
using sample::RetainedFinding;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

WindowResult WindowWith(std::vector<Finding> findings, const AppliedBudget& budget = {}) {
  WindowResult window = sample::PassingTest("HttpTest.KeepAlive");
  window.budget = std::make_shared<const AppliedBudget>(budget);
  window.findings = std::move(findings);
  return window;
}

WindowResult Decided(WindowResult window) {
  DecideVerdict(window);
  return window;
}

WindowResult DecidedOn(std::vector<Finding> findings, const AppliedBudget& budget = {}) {
  return Decided(WindowWith(std::move(findings), budget));
}

AppliedLimit Of(std::int64_t value) { return {value, {"net.leakgate.json", 7, ""}}; }

AppliedBudget LiteralBudget(std::int64_t blocks) {
  AppliedBudget budget = sample::BudgetOf("net");
  budget.outstanding.blocks = Of(blocks);
  return budget;
}

Finding OfComponent(Finding finding, const std::string& component) {
  finding.component = component;
  return finding;
}

auto IsViolation(Metric metric, std::int64_t actual, const std::string& component) {
  return AllOf(Field(&Violation::metric, metric), Field(&Violation::actual, actual),
               Field(&Violation::component, component));
}

// The default policy.

TEST(DefaultPolicyTest, PassesATestThatLeavesNothing) {
  EXPECT_EQ(DecidedOn({}).verdict, Verdict::kPass);
}

TEST(DefaultPolicyTest, FailsWhatIsLost) {
  const WindowResult window = DecidedOn({LostFinding({64, 1})});

  EXPECT_EQ(window.verdict, Verdict::kOverBudget);
  EXPECT_THAT(window.violations, ElementsAre(IsViolation(Metric::kLostBytes, 64, ""),
                                             IsViolation(Metric::kLostBlocks, 1, "")));
}

TEST(DefaultPolicyTest, FailsALostBlockOfNoBytesByItsBlocksAlone) {
  EXPECT_THAT(DecidedOn({LostFinding({0, 1})}).violations,
              ElementsAre(IsViolation(Metric::kLostBlocks, 1, "")));
}

TEST(DefaultPolicyTest, LeavesWhatIsRetainedUnconfirmed) {
  const WindowResult window = DecidedOn({RetainedFinding(Disposition::kUnconfirmed)});

  EXPECT_EQ(window.verdict, Verdict::kUnconfirmed);
  EXPECT_EQ(window.reason, "its retained blocks were not confirmed");
}

TEST(DefaultPolicyTest, SaysWhyWhatIsRetainedIsUnconfirmed) {
  Finding finding = RetainedFinding(Disposition::kUnconfirmed, {64, 1});
  finding.explanation = "it hung";

  EXPECT_EQ(DecidedOn({finding}).reason,
            "64 B in 1 block retained by net::Pool::Grow (/home/me/project/src/net/pool.cc:88): "
            "it hung");
}

TEST(DefaultPolicyTest, FailsWhatGrowsWithEachRepetition) {
  const WindowResult window = DecidedOn({RetainedFinding(Disposition::kSteady, {64, 1})});

  EXPECT_EQ(window.verdict, Verdict::kOverBudget);
  EXPECT_THAT(window.violations, ElementsAre(IsViolation(Metric::kSteadyBytes, 64, ""),
                                             IsViolation(Metric::kSteadyBlocks, 1, "")));
}

TEST(DefaultPolicyTest, TellsAllThatIsUnconfirmed) {
  Finding finding = RetainedFinding(Disposition::kUnconfirmed, {64, 1});
  finding.explanation = "it hung";
  Finding other = RetainedFinding(Disposition::kUnconfirmed, {36, 2});
  other.stack.Edit()[*other.user_frame].function = "net::Other()";

  EXPECT_THAT(DecidedOn({finding, other}).reason,
              testing::StartsWith("100 B in 3 blocks retained by net::Pool::Grow "
                                  "(/home/me/project/src/net/pool.cc:88) and 1 more call site: "));
}

class PassedDispositionTest : public testing::TestWithParam<Disposition> {};

TEST_P(PassedDispositionTest, PassesByDefault) {
  EXPECT_EQ(DecidedOn({RetainedFinding(GetParam())}).verdict, Verdict::kPass);
}

INSTANTIATE_TEST_SUITE_P(, PassedDispositionTest,
                         testing::Values(Disposition::kAllowed, Disposition::kOtherThread,
                                         Disposition::kReplaced, Disposition::kReleasedLater,
                                         Disposition::kOneTime, Disposition::kBounded));

TEST(DefaultPolicyTest, PassesALostBlockThatIsAllowed) {
  Finding finding = LostFinding();
  finding.disposition = Disposition::kAllowed;

  EXPECT_EQ(DecidedOn({finding}).verdict, Verdict::kPass);
}

TEST(DefaultPolicyTest, FailsALossEvenWhereSomethingIsUnconfirmed) {
  EXPECT_EQ(DecidedOn({LostFinding(), RetainedFinding(Disposition::kUnconfirmed)}).verdict,
            Verdict::kOverBudget);
}

TEST(DefaultPolicyTest, PassesWhatIsTheFrameworks) {
  const WindowResult window = DecidedOn({sample::FrameworkFinding({160, 1}, "gmock-registry")});

  EXPECT_EQ(window.verdict, Verdict::kPass);
  EXPECT_EQ(window.framework, (Amount{160, 1}));
}

TEST(DefaultPolicyTest, GivesWayToALimitOnWhatIsLost) {
  AppliedBudget budget = sample::BudgetOf("net");
  budget.lost.blocks = Of(1);

  EXPECT_EQ(DecidedOn({LostFinding({64, 1})}, budget).verdict, Verdict::kPass);
}

TEST(DefaultPolicyTest, GivesWayToALimitOnWhatIsRetained) {
  AppliedBudget budget = sample::BudgetOf("net");
  budget.retained.blocks = Of(1);

  EXPECT_EQ(DecidedOn({RetainedFinding(Disposition::kUnconfirmed, {64, 1})}, budget).verdict,
            Verdict::kPass);
}

TEST(DefaultPolicyTest, HoldsBesideALimitOnGrowth) {
  AppliedBudget budget = sample::BudgetOf("net");
  budget.growth.blocks = Of(9);

  EXPECT_THAT(DecidedOn({LostFinding({64, 1})}, budget).violations,
              ElementsAre(IsViolation(Metric::kLostBytes, 64, "net"),
                          IsViolation(Metric::kLostBlocks, 1, "net")));
}

// A limit on what is outstanding.

TEST(LiteralLimitTest, IsTheWholeOfThePolicy) {
  EXPECT_EQ(DecidedOn({LostFinding({64, 1})}, LiteralBudget(1)).verdict, Verdict::kPass);
}

TEST(LiteralLimitTest, CountsWhatARepetitionWouldExcuse) {
  EXPECT_THAT(DecidedOn({RetainedFinding(Disposition::kOneTime, {64, 1}),
                         RetainedFinding(Disposition::kReplaced, {36, 1})},
                        LiteralBudget(0))
                  .violations,
              ElementsAre(IsViolation(Metric::kOutstandingBlocks, 2, "net")));
}

TEST(LiteralLimitTest, DoesNotCountWhatIsAllowedReleasedOrAnotherThreads) {
  EXPECT_THAT(DecidedOn({RetainedFinding(Disposition::kAllowed),
                         RetainedFinding(Disposition::kReleasedLater),
                         RetainedFinding(Disposition::kOtherThread)},
                        LiteralBudget(0))
                  .violations,
              IsEmpty());
}

TEST(LiteralLimitTest, LeavesNothingToConfirm) {
  const WindowResult window =
      WindowWith({RetainedFinding(Disposition::kUnconfirmed)}, LiteralBudget(1));

  EXPECT_FALSE(IsToBeConfirmed(window, window.findings[0]));
}

// Whose it is.

WindowResult WithCodeBudget(std::vector<Finding> findings, const AppliedBudget& code_budget) {
  WindowResult window = WindowWith(std::move(findings), sample::BudgetOf("http"));
  window.code_budgets = {std::make_shared<const AppliedBudget>(code_budget)};
  return window;
}

TEST(ChargeTest, HoldsOthersCodeAgainstTheirOwnLimit) {
  EXPECT_EQ(
      Decided(WithCodeBudget({OfComponent(LostFinding({64, 1}), "net")}, LiteralBudget(1))).verdict,
      Verdict::kPass);
}

TEST(ChargeTest, NamesTheComponentThatIsOverItsLimit) {
  EXPECT_THAT(Decided(WithCodeBudget({OfComponent(LostFinding({64, 1}), "net")}, LiteralBudget(0)))
                  .violations,
              ElementsAre(IsViolation(Metric::kOutstandingBlocks, 1, "net")));
}

TEST(ChargeTest, DoesNotChargeOthersWithTheTestsOwn) {
  EXPECT_THAT(Decided(WithCodeBudget({LostFinding({64, 1})}, LiteralBudget(0))).violations,
              ElementsAre(IsViolation(Metric::kLostBytes, 64, "http"),
                          IsViolation(Metric::kLostBlocks, 1, "http")));
}

TEST(ChargeTest, DoesNotChargeOthersWithTheTestsGrowth) {
  AppliedBudget net = sample::BudgetOf("net");
  net.growth.blocks = Of(0);
  WindowResult window = WithCodeBudget({}, net);
  window.growth = {64, 1};

  EXPECT_EQ(Decided(window).verdict, Verdict::kPass);
}

TEST(ChargeTest, ConfirmsOthersCodeByTheirOwnPolicy) {
  const Finding finding = OfComponent(RetainedFinding(Disposition::kUnconfirmed), "net");
  const WindowResult by_default = WithCodeBudget({finding}, sample::BudgetOf("net"));
  const WindowResult to_the_letter = WithCodeBudget({finding}, LiteralBudget(9));

  EXPECT_TRUE(IsToBeConfirmed(by_default, finding));
  EXPECT_FALSE(IsToBeConfirmed(to_the_letter, finding));
}

// Other windows, and what else fails.

TEST(WindowVerdictTest, ConfirmsTestsOnly) {
  WindowResult window = WindowWith({RetainedFinding(Disposition::kUnconfirmed)});
  window.kind = WindowKind::kSuite;

  EXPECT_FALSE(IsToBeConfirmed(window, window.findings[0]));
}

TEST(WindowVerdictTest, GatesTheProgramWithoutALimitByWhatItLost) {
  EXPECT_EQ(Decided(sample::ProgramWindow()).verdict, Verdict::kPass);
}

TEST(WindowVerdictTest, DoesNotGateASuiteWithoutALimit) {
  WindowResult window = sample::ProgramWindow();
  window.kind = WindowKind::kSuite;

  EXPECT_EQ(Decided(window).verdict, Verdict::kNotGated);
  EXPECT_EQ(Decided(window).reason, "no budget limits what it retains");
}

// What could not be told.

WindowResult Refused(Finding finding, const AppliedBudget& budget = {}) {
  finding.reach = Reach::kUnknown;
  WindowResult window = WindowWith({finding}, budget);
  window.reach_problem = "a debugger (PID 7) already traces the process";
  DecideVerdict(window);
  ConcludeVerdict("", window);
  return window;
}

TEST(UntoldLossTest, IsInconclusiveWhereABlockMayBeLost) {
  for (const Disposition disposition :
       {Disposition::kUnconfirmed, Disposition::kReplaced, Disposition::kOneTime}) {
    const WindowResult window = Refused(RetainedFinding(disposition));
    EXPECT_EQ(window.verdict, Verdict::kInconclusive);
    EXPECT_EQ(window.reason,
              "what it lost could not be told: a debugger (PID 7) already traces the process");
  }
}

TEST(UntoldLossTest, LetsPassWhatDoesNotCount) {
  for (const Disposition disposition : {Disposition::kAllowed, Disposition::kReleasedLater}) {
    EXPECT_EQ(Refused(RetainedFinding(disposition)).verdict, Verdict::kPass);
  }
}

TEST(UntoldLossTest, FailsWhatGrowsAllTheSame) {
  EXPECT_EQ(Refused(RetainedFinding(Disposition::kSteady)).verdict, Verdict::kOverBudget);
}

TEST(UntoldLossTest, LetsPassWhereNoLimitDependsOnIt) {
  EXPECT_EQ(Refused(RetainedFinding(Disposition::kOutstanding), LiteralBudget(9)).verdict,
            Verdict::kPass);
}

TEST(UntoldLossTest, KeepsTheTestOpenUntilNothingMoreIsFoundOut) {
  WindowResult window = WindowWith({RetainedFinding(Disposition::kUnconfirmed)});
  window.findings[0].reach = Reach::kUnknown;
  window.reach_problem = "a debugger (PID 7) already traces the process";

  EXPECT_EQ(Decided(window).verdict, Verdict::kUnconfirmed);
}

WindowResult Concluded(WindowResult window, const std::string& run_doubt) {
  DecideVerdict(window);
  ConcludeVerdict(run_doubt, window);
  return window;
}

TEST(RunDoubtTest, WithdrawsAPass) {
  const WindowResult window = Concluded(WindowWith({}), "events were dropped");
  EXPECT_EQ(window.verdict, Verdict::kInconclusive);
  EXPECT_EQ(window.reason, "events were dropped");
}

TEST(RunDoubtTest, LeavesAFailureAndWhatIsUnconfirmed) {
  EXPECT_EQ(Concluded(WindowWith({LostFinding()}), "events were dropped").verdict,
            Verdict::kOverBudget);
  EXPECT_EQ(Concluded(WindowWith({RetainedFinding(Disposition::kUnconfirmed)}), "a drop").verdict,
            Verdict::kUnconfirmed);
}

TEST(DoubtsTest, LeaveNothingOfAWindowThatWasNotJudged) {
  AppliedBudget budget;
  budget.peak_bytes = Of(1);
  WindowResult window = WindowWith({}, budget);
  window.peak_live_bytes = 64;
  window.doubts.unjudged = "no memory";

  EXPECT_EQ(Decided(window).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Decided(window).reason, "no memory");
  EXPECT_THAT(Decided(window).violations, IsEmpty());
}

TEST(DoubtsTest, WaitForWhatMayBeFreedLaterUnlessAFreeingErrorIsCertain) {
  WindowResult window = WindowWith({LostFinding()});
  window.doubts.may_free_later = true;
  EXPECT_EQ(Decided(window).verdict, Verdict::kUnconfirmed);
  EXPECT_EQ(Decided(window).reason,
            "what it left behind may be freed later, and the program did not get that far");

  window.free_errors.resize(1);
  EXPECT_EQ(Decided(window).verdict, Verdict::kOverBudget);
}

TEST(DoubtsTest, WithdrawAPassOfAProcessThatNobodyCouldLookAtAsItEnded) {
  WindowResult window = sample::ProgramWindow();
  window.findings = {RetainedFinding(Disposition::kOutstanding)};
  window.doubts.losses = "it was killed";
  EXPECT_EQ(Decided(window).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Decided(window).reason, "what it lost could not be told: it was killed");

  window.doubts.has_executed = true;
  EXPECT_EQ(Decided(window).verdict, Verdict::kNotGated);
  window.findings.clear();
  EXPECT_EQ(Decided(window).verdict, Verdict::kPass);
}

TEST(DoubtsTest, LeaveNoVerdictOnATestThatDidNotEnd) {
  WindowResult window = WindowWith({LostFinding()});
  window.doubts.has_not_ended = true;

  EXPECT_EQ(Decided(window).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Decided(window).reason, "the program ended while the test ran");
  EXPECT_THAT(Decided(window).violations, IsEmpty());
}

TEST(WindowVerdictTest, FailsWhatTheProgramLost) {
  WindowResult window = sample::ProgramWindow();
  window.findings = {LostFinding()};

  EXPECT_EQ(Decided(window).verdict, Verdict::kOverBudget);
}

TEST(WindowVerdictTest, FailsAFreeingErrorWhateverIsLeft) {
  WindowResult window = sample::PassingTest("A.B");
  window.free_errors = {{"new[] freed by free()", {}, {}}};

  EXPECT_EQ(Decided(window).verdict, Verdict::kOverBudget);
}

TEST(WindowVerdictTest, IsDecidedAnewEachTime) {
  WindowResult window = DecidedOn({LostFinding()});
  window.findings.clear();

  EXPECT_EQ(Decided(window).verdict, Verdict::kPass);
  EXPECT_THAT(Decided(window).violations, IsEmpty());
}

TEST(WindowVerdictTest, SumsUpTheFindings) {
  WindowResult window =
      WindowWith({LostFinding({1, 1}), RetainedFinding(Disposition::kSteady, {2, 1}),
                  RetainedFinding(Disposition::kAllowed, {4, 1}),
                  sample::FrameworkFinding({8, 1}, "gmock-registry")});
  SumFindings(window);

  EXPECT_EQ(window.outstanding, (Amount{7, 3}));
  EXPECT_EQ(window.lost, (Amount{1, 1}));
  EXPECT_EQ(window.retained, (Amount{6, 2}));
  EXPECT_EQ(window.allowed, (Amount{4, 1}));
  EXPECT_EQ(window.framework, (Amount{8, 1}));
}

}  // namespace
}  // namespace leakgate
