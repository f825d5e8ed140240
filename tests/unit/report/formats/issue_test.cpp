#include "runner/report/formats/issue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/attribution/leak_identity.h"
#include "tests/support/processor_time.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// What of an issue outlives the run's values.
std::vector<Issue> Issues(const RunResult& run) {
  std::vector<Issue> issues;
  VisitIssues(run, sample::kProject, [&](const Issue& issue) { issues.push_back(issue); });
  return issues;
}

std::vector<Rule> Rules(const std::vector<Issue>& issues) {
  std::vector<Rule> rules;
  for (const Issue& issue : issues) rules.push_back(issue.rule);
  return rules;
}

TEST(IssueTest, IsOneForEachFindingThatCounts) {
  WindowResult window = sample::FailingUncoveredTest();
  window.findings.push_back(sample::RetainedFinding(Disposition::kOneTime));
  window.findings.push_back(sample::FrameworkFinding({160, 1}, "gmock-registry"));
  const RunResult run = sample::RunOf({window});

  const std::vector<Issue> issues = Issues(run);

  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].rule, Rule::kLost);
  EXPECT_EQ(issues[0].level, Level::kError);
  EXPECT_EQ(issues[0].title, "128 B in 2 blocks lost by net::Pool::Grow in HttpTest.KeepAlive");
  EXPECT_EQ(issues[0].position, (FilePosition{"src/net/pool.cc", 88}));
  EXPECT_THAT(issues[0].details, StartsWith("HttpTest.KeepAlive: 128 B in 2 blocks lost\n"));
  EXPECT_THAT(issues[0].details, HasSubstr("  > net::Pool::Grow(unsigned long)"));
  EXPECT_THAT(issues[0].details, HasSubstr("fix it, or allow it in"));
}

TEST(IssueTest, HasARuleForEachThingThatARunHoldsAgainstTheCode) {
  EXPECT_THAT(
      Rules(Issues(sample::RunOfEverything())),
      ElementsAre(Rule::kLost, Rule::kOutstanding /* allowed */, Rule::kSteady, Rule::kOutstanding,
                  Rule::kOverLimit, Rule::kOutstanding /* suite */, Rule::kMismatchedFree,
                  Rule::kDoubleFree, Rule::kUnconfirmed, Rule::kOutstanding /* program */,
                  Rule::kBudgetEntry, Rule::kBudgetEntry));
}

TEST(IssueTest, NothingIsHeldAgainstARunThatPassed) {
  EXPECT_THAT(Issues(sample::PassingRun()), IsEmpty());
}

TEST(IssueTest, ALimitThatNoFindingExplainsIsOneAtTheTestsDefinition) {
  WindowResult window = sample::FailingTest();
  window.source_file = "/home/me/project/tests/http_test.cc";
  window.source_line = 25;
  window.findings.clear();
  window.violations = {sample::Over(Metric::kThreads, 3, 1, {"net.json", 7, ""})};
  window.left_behind = {"thread 7: worker"};
  const RunResult run = sample::RunOf({window});

  const std::vector<Issue> issues = Issues(run);

  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].rule, Rule::kOverLimit);
  EXPECT_EQ(issues[0].title, "3 threads left running in HttpTest.KeepAlive, budget 1");
  EXPECT_EQ(issues[0].position, (FilePosition{"tests/http_test.cc", 25}));
  EXPECT_THAT(issues[0].details, HasSubstr("left behind: thread 7: worker\n"));
}

TEST(IssueTest, IsAtTheCallSiteOfWhatIsLeftMapped) {
  WindowResult window = sample::FailingTest();
  window.mappings = {sample::PoolFinding({128, 2})};
  window.mappings[0].kind = AllocationKind::kMapped;
  window.findings[0].disposition = Disposition::kReplaced;  // counts, but not for this limit
  window.violations = {sample::Over(Metric::kMappedBytes, 128, 0, {"net.json", 7, ""})};
  const RunResult run = sample::RunOf({window});

  const std::vector<Issue> issues = Issues(run);

  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].rule, Rule::kOverLimit);
  EXPECT_EQ(issues[0].title,
            "128 B in 2 mappings left mapped by net::Pool::Grow in HttpTest.KeepAlive");
  EXPECT_EQ(issues[0].position, (FilePosition{"src/net/pool.cc", 88}));
}

TEST(IssueGroupsTest, CountsBlocksAndMappingsOfOneLineApart) {
  std::vector<WindowResult> windows;
  for (const char* const name : {"HttpTest.A", "HttpTest.B"}) {
    WindowResult window = sample::FailingTest();
    window.name = name;
    window.findings = {sample::PoolFinding({16, 1})};
    window.mappings = {sample::PoolFinding({128, 2})};
    window.mappings[0].kind = AllocationKind::kMapped;
    for (Finding* const finding : {&window.findings[0], &window.mappings[0]}) {
      finding->disposition = Disposition::kSteady;
      finding->reach = Reach::kRetained;
    }
    window.violations = {sample::Over(Metric::kSteadyBytes, 16, 0, {}),
                         sample::Over(Metric::kSteadyMappedBytes, 128, 0, {})};
    for (Violation& violation : window.violations) violation.component = "net";
    windows.push_back(window);
  }
  const RunResult run = sample::RunOf(windows);
  IssueGroups groups;
  VisitIssues(run, sample::kProject, [&](const Issue& issue) { groups.Add(issue); });
  ASSERT_THAT(groups.Groups(), SizeIs(1));
  EXPECT_THAT(groups.Groups()[0].title,
              StartsWith("32 B in 2 blocks retained, growing each time, "
                         "256 B in 4 mappings retained, growing each time, by net::Pool::Grow"));
}

TEST(IssueTest, IsAtTheCallSiteThatAllocatedMostOfTooMuch) {
  WindowResult window = sample::FailingTest();
  window.findings.clear();
  window.violations = {
      sample::Over(Metric::kAllocatedBytes, 4096, 64, {"net.json", 7, ""}, {4096, 9})};
  window.made_by = {{.quantity = Quantity::kAllocated,
                     .amount = {4096, 9},
                     .sites = {{sample::PoolFinding({3000, 5})}},
                     .other_sites = 2,
                     .other = {1096, 4}}};
  WindowResult other = window;
  other.name = "A.B";
  WindowResult unknown = window;
  unknown.name = "A.C";
  unknown.made_by = {{.quantity = Quantity::kAllocated, .problem = "confirmation is off"}};
  const RunResult run = sample::RunOf({window, other, unknown});

  const std::vector<Issue> issues = Issues(run);
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_EQ(issues[0].title, "4096 B in 9 blocks allocated in HttpTest.KeepAlive, budget 64 B");
  EXPECT_EQ(issues[0].position, (FilePosition{"src/net/pool.cc", 88}));
  EXPECT_THAT(issues[0].details, HasSubstr("  3000 B in 5 blocks\n  > net::Pool::Grow"));
  EXPECT_EQ(issues[1].fingerprint, issues[0].fingerprint);
  EXPECT_NE(issues[2].fingerprint, issues[0].fingerprint);
  EXPECT_THAT(issues[2].details, HasSubstr("who allocated it is not known: confirmation is off"));

  IssueGroups groups;
  for (const Issue& issue : issues) groups.Add(issue);
  ASSERT_THAT(groups.Groups(), SizeIs(2));
  EXPECT_EQ(groups.Groups()[0].title,
            "6000 B in 10 blocks allocated by net::Pool::Grow in 2 tests: HttpTest.KeepAlive, A.B");
}

TEST(IssueTest, TellsTheBudgetFileFromTheRoot) {
  WindowResult window = sample::FailingTest();
  window.violations[0].limit.source.file = "/home/me/project/budgets/net.leakgate.json";
  EXPECT_THAT(Issues(sample::RunOf({window})).at(0).details,
              HasSubstr("budget 0 B (budgets/net.leakgate.json:14)\n"));
}

TEST(IssueTest, AViolationWithoutFindingsIsNeverSilent) {
  WindowResult window = sample::FailingTest();
  window.findings.clear();
  EXPECT_THAT(Rules(Issues(sample::RunOf({window}))), ElementsAre(Rule::kOutstanding));
}

TEST(IssueTest, WhatIsLostAndGrowsIsOneIssue) {
  WindowResult window = sample::FailingUncoveredTest();
  window.findings[0].disposition = Disposition::kSteady;
  window.violations.push_back(sample::Over(Metric::kSteadyBytes, 128, 0));
  EXPECT_THAT(Rules(Issues(sample::RunOf({window}))), ElementsAre(Rule::kLost));
}

TEST(IssueTest, ALimitThatAFileSetsCountsWhatTheDefaultPolicyForgives) {
  WindowResult window = sample::FailingTest();
  window.findings = {sample::RetainedFinding(Disposition::kOneTime),
                     sample::RetainedFinding(Disposition::kReleasedLater)};
  EXPECT_THAT(Rules(Issues(sample::RunOf({window}))), ElementsAre(Rule::kOutstanding));
}

TEST(IssueTest, CodeIsChargedToTheComponentWhoseLimitItExceeds) {
  WindowResult window = sample::FailingUncoveredTest();
  window.violations = {sample::Over(Metric::kLostBytes, 64, 0)};
  window.violations[0].component = "disk";
  window.findings = {sample::LostFinding(), sample::LostFinding()};
  window.findings[1].component = "disk";
  const RunResult run = sample::RunOf({window});

  const std::vector<Issue> issues = Issues(run);

  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].finding, &run.windows[0].findings[1]);
}

TEST(IssueTest, TheIterationsOfATestAreOneIssue) {
  EXPECT_THAT(Issues(sample::RunOf({sample::FailingTest("A.B", 1), sample::FailingTest("A.B", 2)})),
              SizeIs(1));
}

TEST(IssueTest, TwoCallSitesOfOneFunctionAreTwoIssues) {
  WindowResult window = sample::FailingUncoveredTest();
  window.findings.push_back(window.findings[0]);
  window.findings[1].stack.Edit()[2].line = 90;

  const std::vector<Issue> issues = Issues(sample::RunOf({window}));

  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].fingerprint, issues[1].fingerprint);
  EXPECT_EQ(issues[0].ordinal, 1);
  EXPECT_EQ(issues[1].ordinal, 2);
}

TEST(IssueTest, FailsNothingWhereTheRunFailsNothing) {
  RunResult run = sample::RunOf({sample::FailingTest()});
  run.mode = GateMode::kWarnOnly;
  EXPECT_EQ(Issues(run).at(0).level, Level::kWarning);
}

TEST(IssueTest, WhatIsUnconfirmedFailsOnlyWhenStrict) {
  RunResult run = sample::RunOf({sample::UnconfirmedTest()});
  EXPECT_EQ(Issues(run).at(0).level, Level::kNote);
  run.mode = GateMode::kStrict;
  EXPECT_EQ(Issues(run).at(0).level, Level::kError);
}

TEST(IssueTest, WhatNothingUsedFailsOnlyWhenStrict) {
  RunResult run = sample::RunOf({});
  run.warnings = {"/home/me/project/net.json:7: nothing used this"};
  EXPECT_EQ(Issues(run).at(0).level, Level::kWarning);
  EXPECT_EQ(Issues(run).at(0).position, (FilePosition{"net.json", 7}));
  run.mode = GateMode::kStrict;
  EXPECT_EQ(Issues(run).at(0).level, Level::kError);
}

TEST(IssueTest, AnEntryIsTheSameWhenItsLineHasMoved) {
  RunResult run = sample::RunOf({});
  run.failures = {"net.json:3: it expired", "net.json:33: it expired", "other.json:3: it expired"};
  const std::vector<Issue> issues = Issues(run);
  EXPECT_EQ(issues.at(0).fingerprint, issues.at(1).fingerprint);
  EXPECT_NE(issues.at(0).fingerprint, issues.at(2).fingerprint);
}

TEST(IssueTest, DoubtsAreTheRunsAndTheWindows) {
  const RunResult run = sample::RunOfEverything();
  std::vector<std::string> texts;
  for (const Doubt& doubt : Doubts(run)) texts.push_back(doubt.text);
  EXPECT_THAT(texts, ElementsAre("2 allocations were not recorded",
                                 "PoolTest.Crashes: the program ended while the test ran",
                                 "PoolTest.Full: the map was full"));
}

// Built elsewhere, after lines were added above.
Finding Moved() {
  Finding finding = sample::LostFinding({256, 4});
  for (Frame& frame : finding.stack.Edit()) {
    frame.module_offset += 0x100;
    if (!frame.file.starts_with("/home")) continue;
    frame.line += 10;
    frame.module = "/elsewhere/http_test";
    frame.file = "/elsewhere" + frame.file;
  }
  return finding;
}

std::string FingerprintFor(const char* kind, const Finding& finding) {
  return SymbolicFingerprint(kind, UserFrames(finding));
}

TEST(FingerprintTest, StaysWhenLinesFilesAddressesAndAmountsChange) {
  EXPECT_EQ(FingerprintFor("lost", sample::LostFinding()), FingerprintFor("lost", Moved()));
}

TEST(FingerprintTest, StaysWhenTheStandardLibraryOrGoogleTestChanges) {
  Finding finding = sample::LostFinding();
  finding.stack.Edit().erase(finding.stack.begin());
  finding.user_frame = 1;
  finding.stack.Edit().pop_back();
  EXPECT_EQ(FingerprintFor("lost", finding), FingerprintFor("lost", sample::LostFinding()));
}

TEST(FingerprintTest, StaysWhenAParameterOrATemplateArgumentChanges) {
  Finding finding = sample::LostFinding();
  finding.stack.Edit()[2].function = "net::Pool::Grow(int)";
  EXPECT_EQ(FingerprintFor("lost", finding), FingerprintFor("lost", sample::LostFinding()));
}

TEST(FingerprintTest, TellsFunctionsAndRulesApart) {
  Finding other = sample::LostFinding();
  other.stack.Edit()[2].function = "net::Pool::Shrink(unsigned long)";
  const std::string fingerprint = FingerprintFor("lost", sample::LostFinding());
  EXPECT_NE(FingerprintFor("lost", other), fingerprint);
  EXPECT_NE(FingerprintFor("steady", sample::LostFinding()), fingerprint);
  EXPECT_THAT(fingerprint, SizeIs(16));
}

TEST(FingerprintTest, OfWhatHasNoNameIsItsModule) {
  Finding finding;
  finding.stack = {sample::NamelessFrame("/usr/lib/libz.so.1", 0x10)};
  Finding moved;
  moved.stack = {sample::NamelessFrame("/opt/lib/libz.so.1", 0x99)};
  EXPECT_EQ(FingerprintFor("lost", finding), FingerprintFor("lost", moved));
}

TEST(CallSiteTest, IsTheNextFrameOutwardsWithAFile) {
  Finding finding = sample::LostFinding();
  finding.stack.Edit()[2].file.clear();
  EXPECT_EQ(PositionOf(finding, sample::kProject), (FilePosition{"src/net/client.cc", 41}));
  finding.stack.Edit().clear();
  finding.user_frame.reset();
  EXPECT_EQ(PositionOf(finding, sample::kProject), FilePosition{});
}

TEST(CallSiteTest, IsInTheSourceTreeIfAnyFrameIs) {
  Finding finding = sample::LostFinding();
  Frame& call_site = finding.stack.Edit()[*finding.user_frame];
  call_site.file = "/opt/pool/include/pool.h";
  EXPECT_EQ(PositionOf(finding, sample::kProject), (FilePosition{"src/net/client.cc", 41}));
  EXPECT_EQ(PositionOf(finding, "/elsewhere").file, "/opt/pool/include/pool.h");
}

TEST(CallSiteTest, IsTheInnermostFrameWhereNoneIsTheUsers) {
  Finding finding;
  finding.stack = {sample::NamelessFrame("/usr/lib/libz.so.1", 0x10)};
  EXPECT_EQ(FrameName(*CallSiteOf(finding)), "libz.so.1+0x10");
  EXPECT_EQ(CallSiteOf(Finding{}), nullptr);
}

TEST(IssueTest, CostsAsMuchForEachViolationHoweverManyAWindowHas) {
  const auto make = [](std::size_t count) {
    RunResult run = sample::RunOf({sample::FailingUncoveredTest()});
    for (std::size_t i = 0; i < count; ++i) {
      run.windows[0].violations.push_back(
          {Metric::kLostBytes, 1, {}, fmt::format("component {}", i), {1, 1}});
    }
    return run;
  };
  const double growth = test::GrowthOfCost(250, make, [](const RunResult& run) {
    VisitIssues(run, sample::kProject, [](const Issue&) {});
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace leakgate
