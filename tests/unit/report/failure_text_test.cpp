#include "runner/report/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingTest;
using sample::FailingUncoveredTest;
using sample::FrameworkFinding;
using sample::Over;
using sample::PoolFinding;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const TextStyle kPlainStyle = {Colour::kOff, sample::kProject};

TEST(FailureTextTest, BeginsWithTheAnswerAndTheLimitThatApplied) {
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle),
              StartsWith("leakgate: 128 B in 2 blocks outstanding, budget 0 B "
                         "(net, budgets/net.leakgate.json:14)\n"));
}

TEST(FailureTextTest, NamesNoBudgetWhereNoFileSetsALimit) {
  EXPECT_THAT(FailureText(FailingUncoveredTest(), kPlainStyle),
              StartsWith("leakgate: 128 B in 2 blocks lost\n"));
}

TEST(FailureTextTest, TellsWhatBecameOfAFinding) {
  EXPECT_THAT(FailureText(FailingUncoveredTest(), kPlainStyle),
              HasSubstr("\n  128 B in 2 blocks, new, lost\n"));
}

TEST(FailureTextTest, ListsWhatDoesNotCountInALineEach) {
  WindowResult window = FailingUncoveredTest();
  window.findings.push_back(sample::RetainedFinding(Disposition::kBounded, {72, 1}));

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  not counted: 72 B in 1 block by net::Pool::Grow "
                        "(src/net/pool.cc:88): retained, bounded\n"));
}

TEST(FailureTextTest, SumsUpWhatDoesNotCountWhereThatIsMuch) {
  WindowResult window = FailingUncoveredTest();
  for (int i = 0; i < 100; ++i) {
    window.findings.push_back(sample::RetainedFinding(Disposition::kOneTime, {10, 1}));
  }

  EXPECT_THAT(
      FailureText(window, kPlainStyle),
      HasSubstr("\n  not counted: 950 B in 95 blocks by 95 more call stacks; the JSON report "
                "has each\n"));
}

TEST(FailureTextTest, BeginsWithFreeingErrorsAndShowsBothStacks) {
  WindowResult window = FailingUncoveredTest();
  window.free_errors = {{"64 B allocated by new[] and freed by free()", PoolFinding(), {}}};
  window.free_errors[0].made_at = PoolFinding();

  const std::string text = FailureText(window, kPlainStyle);

  EXPECT_THAT(text, StartsWith("leakgate: 1 freeing error\n  and 128 B in 2 blocks lost\n"));
  EXPECT_THAT(text, HasSubstr("\n  64 B allocated by new[] and freed by free()\n  > net::Pool"));
  EXPECT_THAT(text, HasSubstr("\n    allocated at\n  > net::Pool"));
}

// A test that is over a limit on what it does, and who did that.
WindowResult BusyTest() {
  WindowResult window = sample::PassingTest("HttpTest.KeepAlive");
  window.verdict = Verdict::kOverBudget;
  window.violations = {
      sample::Over(Metric::kAllocatedBytes, 4096, 64, {"net.json", 14, ""}, {4096, 9})};
  Finding site = PoolFinding({3000, 5});
  Finding small = PoolFinding({96, 1});
  window.made_by = {{.quantity = Quantity::kAllocated,
                     .amount = {4096, 9},
                     .sites = {{site}, {small}, {small}, {small}},
                     .other_sites = 2,
                     .other = {100, 2},
                     .framework = {304, 1}}};
  return window;
}

TEST(FailureTextTest, NamesWhoAllocatedTooMuch) {
  const std::string text = FailureTextWithHeadline(BusyTest(), kPlainStyle);
  EXPECT_THAT(text, StartsWith("src/net/pool.cc:88: Failure in HttpTest.KeepAlive\n"
                               "leakgate: 4096 B in 9 blocks allocated, budget 64 B"));
  EXPECT_THAT(text, HasSubstr("\n\n  allocated when the test was repeated alone: 4096 B in 9 "
                              "blocks\n  3000 B in 5 blocks\n  > net::Pool"));
  EXPECT_THAT(text, HasSubstr("\n  196 B in 3 blocks by 3 more call sites\n"
                              "  304 B in 1 block by GoogleTest itself\n"));
}

TEST(FailureTextTest, SaysWhyItIsNotKnownWhoAllocatedTooMuch) {
  WindowResult window = BusyTest();
  window.made_by = {{.quantity = Quantity::kAllocated, .problem = "confirmation is off"}};
  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  who allocated it is not known: confirmation is off\n"));
}

TEST(FailureTextTest, NamesWhatIsLeftBehindBesidesTheHeap) {
  WindowResult window = FailingTest();
  window.left_behind = {"file descriptor 7: /tmp/db"};

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  left behind: file descriptor 7: /tmp/db\n"));
}

TEST(FailureTextTest, SaysWhyItCouldNotTellWhatIsLost) {
  WindowResult window = FailingTest();
  window.reach_problem = "the process cannot be stopped";

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  what is lost could not be told: the process cannot be stopped\n"));
}

TEST(FailureTextTest, NamesTheOwner) {
  WindowResult window = FailingTest();
  sample::ChangeBudget(window, [](AppliedBudget& budget) { budget.owner = "net-team"; });

  EXPECT_THAT(FailureText(window, kPlainStyle), HasSubstr(":14, owner net-team)\n"));
}

TEST(FailureTextTest, GivesTheReasonOfAnOverride) {
  WindowResult window = FailingTest();
  window.violations[0].limit.source.reason = "one socket is pooled";

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr(":14)\n  budgeted so because: one socket is pooled\n"));
}

TEST(FailureTextTest, TellsGrowthAfterWhatIsOutstanding) {
  WindowResult window = FailingTest();
  window.violations.push_back(Over(Metric::kGrowthBytes, 128, 0, {"net.json", 20, ""}));

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  and growth +128 B (+2 blocks), budget 0 B (net, net.json:20)\n"));
}

TEST(FailureTextTest, TellsGrowthAloneInTheFirstLine) {
  WindowResult window = FailingTest();
  window.violations = {Over(Metric::kGrowthBytes, 128, 0, {"net.json", 20, ""})};

  EXPECT_THAT(FailureText(window, kPlainStyle),
              StartsWith("leakgate: growth +128 B (+2 blocks), budget 0 B (net, net.json:20)\n"));
}

TEST(FailureTextTest, ListsTheFindingsAfterAnEmptyLine) {
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle),
              HasSubstr(")\n\n  128 B in 2 blocks, new\n  > net::Pool::Grow"));
}

TEST(FailureTextTest, ListsAllOfTenFindings) {
  WindowResult window = FailingTest();
  window.findings.assign(10, PoolFinding());

  EXPECT_THAT(FailureText(window, kPlainStyle), Not(HasSubstr("more finding")));
}

TEST(FailureTextTest, CountsTheFindingsBeyondTen) {
  WindowResult window = FailingTest();
  window.findings.assign(22, PoolFinding({1024, 1}));

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  and 12 more findings (12.0 KiB); all are in the JSON report\n"));
}

TEST(FailureTextTest, ListsTheFrameworksApartWithTheirRules) {
  WindowResult window = FailingTest();
  window.framework = {320, 2};
  window.findings.push_back(FrameworkFinding({160, 1}, "gmock registry"));
  window.findings.push_back(FrameworkFinding({96, 1}, "test part results"));
  window.findings.push_back(FrameworkFinding({64, 1}, "gmock registry"));

  const std::string text = FailureText(window, kPlainStyle);

  EXPECT_THAT(text, HasSubstr("\n  framework: 320 B in 2 blocks, not counted "
                              "(gmock registry, test part results)\n"));
  EXPECT_THAT(text, Not(HasSubstr("MockRegistry")));
}

TEST(FailureTextTest, ListsTheFrameworksAmountWithoutRules) {
  WindowResult window = FailingTest();
  window.framework = {160, 1};

  EXPECT_THAT(FailureText(window, kPlainStyle),
              HasSubstr("\n  framework: 160 B in 1 block, not counted\n"));
}

TEST(FailureTextTest, DoesNotMentionTheFrameworkWhereItKeptNothing) {
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle), Not(HasSubstr("framework")));
}

TEST(FailureTextTest, EndsWithTheRemedyWithoutANewline) {
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle),
              EndsWith("\n  fix it, or allow it in \"overrides\" of budgets/net.leakgate.json: "
                       "{ \"tests\": [\"HttpTest.KeepAlive\"], \"limits\": { \"test\": { "
                       "\"outstanding\": { \"bytes\": 128, \"blocks\": 2 } } }, "
                       "\"reason\": \"...\" }"));
}

TEST(FailureTextTest, HasNoColourUnlessAsked) {
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle), Not(HasSubstr("\x1b")));
  EXPECT_THAT(FailureText(FailingTest(), {Colour::kOn, ""}), StartsWith("\x1b[1;31mleakgate: "));
}

TEST(FailureTextTest, EscapesControlCharactersWhereverTheyComeFrom) {
  WindowResult window = FailingTest("Evil\x1b.Test");
  window.budget = std::make_shared<const AppliedBudget>(sample::BudgetOf("net\x1b", "team\x1b"));
  window.violations = {Over(Metric::kOutstandingBytes, 1, 0, {"net\x1b.json", 3, "why\x1b"})};
  window.violations[0].component = "net\x1b";
  window.framework = {160, 1};
  window.findings.push_back(FrameworkFinding({160, 1}, "rule\x1b"));

  const std::string text = FailureTextWithHeadline(window, kPlainStyle);

  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("Failure in Evil\\x1b.Test\n"));
  EXPECT_THAT(text, HasSubstr("(net\\x1b, net\\x1b.json:3, owner team\\x1b)"));
  EXPECT_THAT(text, HasSubstr("because: why\\x1b\n"));
  EXPECT_THAT(text, HasSubstr("(rule\\x1b)"));
}

TEST(HeadlineTest, NamesTheCallSiteAndTheTest) {
  EXPECT_THAT(FailureTextWithHeadline(FailingTest(), kPlainStyle),
              StartsWith("src/net/pool.cc:88: Failure in HttpTest.KeepAlive\nleakgate: 128 B"));
}

TEST(HeadlineTest, NamesTheIterationAfterTheFirst) {
  EXPECT_THAT(FailureTextWithHeadline(FailingTest("HttpTest.KeepAlive", 2), kPlainStyle),
              HasSubstr("Failure in HttpTest.KeepAlive #2\n"));
}

TEST(HeadlineTest, SaysWhetherItIsASuiteOrTheProgram) {
  WindowResult suite = FailingTest("HttpTest");
  suite.kind = WindowKind::kSuite;

  EXPECT_THAT(FailureTextWithHeadline(suite, kPlainStyle),
              HasSubstr("Failure in suite HttpTest\n"));
  EXPECT_THAT(FailureTextWithHeadline(sample::FailingProgram(), kPlainStyle),
              HasSubstr("Failure in program http_test\n"));
}

TEST(FailureTextTest, SaysThatASuiteHasNoneOfItsTestsBlocks) {
  WindowResult suite = FailingTest("HttpTest");
  suite.kind = WindowKind::kSuite;

  EXPECT_THAT(FailureText(suite, kPlainStyle), HasSubstr("each test has what it left itself\n"));
  EXPECT_THAT(FailureText(FailingTest(), kPlainStyle), Not(HasSubstr("each test has what")));
}

// Two findings that would read the same: what differs is folded away otherwise.
TEST(FailureTextTest, ShowsTheFramesThatTellTwoFindingsApart) {
  WindowResult window = FailingTest();
  Finding first = sample::PoolFinding();
  first.stack.Edit().insert(first.stack.end() - 3, sample::FrameOf("RunTwice()", "runner.cc", 7));
  first.stack.Edit()[first.stack.size() - 3].line = 1;
  Finding second = first;
  second.stack.Edit()[first.stack.size() - 3].line = 2;
  first.stack.Edit()[first.stack.size() - 3].file =
      second.stack.Edit()[first.stack.size() - 3].file = "main.cc";
  window.findings = {first, second};

  EXPECT_THAT(FailureText(window, kPlainStyle), HasSubstr("main.cc:1\n"));
  EXPECT_THAT(FailureText(window, kPlainStyle), HasSubstr("main.cc:2\n"));
}

TEST(FailureTextTest, ShowsTheInnerFramesThatTellTwoFindingsApart) {
  WindowResult window = FailingTest();
  const Finding first = sample::PoolFinding();
  Finding second = first;
  second.stack.Edit()[0].line += 1;
  window.findings = {first, second};

  EXPECT_THAT(FailureText(window, kPlainStyle), HasSubstr("new_allocator.h:137\n"));
  EXPECT_THAT(FailureText(window, kPlainStyle), HasSubstr("new_allocator.h:138\n"));
}

TEST(HeadlineTest, LeavesOutAPositionThatIsNotKnown) {
  WindowResult window = FailingTest();
  window.findings.clear();

  EXPECT_THAT(FailureTextWithHeadline(window, kPlainStyle),
              StartsWith("Failure in HttpTest.KeepAlive"));
}

TEST(HeadlineTest, LeavesOutALineThatIsNotKnown) {
  WindowResult window = FailingTest();
  window.findings.clear();
  window.source_file = "tests/http_test.cc";

  EXPECT_THAT(FailureTextWithHeadline(window, kPlainStyle),
              StartsWith("tests/http_test.cc: Failure in HttpTest.KeepAlive"));
}

TEST(FailurePositionTest, IsTheCallSiteOfTheLargestFinding) {
  EXPECT_EQ(FailurePosition(FailingTest()),
            (SourcePosition{"/home/me/project/src/net/pool.cc", 88}));
}

TEST(FailurePositionTest, PassesOverFindingsWithoutASource) {
  WindowResult window = FailingTest();
  window.findings.insert(window.findings.begin(), PoolFinding());
  window.findings[0].stack.Edit()[2].file.clear();
  window.findings.insert(window.findings.begin(), PoolFinding());
  window.findings[0].user_frame.reset();

  EXPECT_EQ(FailurePosition(window)->line, 88);
}

TEST(FailurePositionTest, IsNeverInTheFramework) {
  WindowResult window = FailingTest();
  window.findings = {FrameworkFinding({160, 1}, "gmock registry")};
  window.findings[0].stack.Edit()[0].file = "/usr/src/gmock.cc";
  window.findings[0].user_frame = 0;

  EXPECT_EQ(FailurePosition(window), std::nullopt);
}

TEST(FailurePositionTest, IsElseTheTestsDefinition) {
  WindowResult window = FailingTest();
  window.findings.clear();
  window.source_file = "tests/http_test.cc";
  window.source_line = 25;

  EXPECT_EQ(FailurePosition(window), (SourcePosition{"tests/http_test.cc", 25}));
}

}  // namespace
}  // namespace leakgate
