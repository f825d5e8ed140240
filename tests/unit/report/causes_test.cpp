// Which failing tests are one thing to fix.
#include "runner/report/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FailingTest;
using sample::FailingUncoveredTest;
using sample::LostFinding;
using sample::Over;
using sample::PassingTest;
using testing::SizeIs;

Finding At(Finding finding, const std::string& function, int line) {
  finding.stack = sample::PoolStack();
  finding.stack.Edit()[*finding.user_frame] =
      sample::FrameOf(function, "/home/me/project/src/net/pool.cc", line);
  return finding;
}

TEST(CausesTest, OneCallSiteIsOneCauseOfAllItsTests) {
  const std::vector<WindowResult> windows = {FailingUncoveredTest("A.B"), PassingTest("A.C"),
                                             FailingUncoveredTest("A.D")};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_THAT(causes[0].windows, testing::ElementsAre(&windows[0], &windows[2]));
  EXPECT_EQ(causes[0].amount, (Amount{256, 4}));
  EXPECT_EQ(SiteTexts(causes, sample::kProject).front(), "net::Pool::Grow (src/net/pool.cc:88)");
  const WindowResult all = InAllWindows(causes[0]);
  EXPECT_EQ(all.violations.front().amount, (Amount{256, 4}));
}

TEST(CausesTest, ATestOfTwoCallSitesFailsForTwo) {
  WindowResult window = FailingUncoveredTest();
  window.findings = {LostFinding({100, 1}), At(LostFinding({28, 1}), "net::Other()", 3)};
  const std::vector<WindowResult> windows = {window};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(causes[0].amount, (Amount{100, 1}));
  EXPECT_EQ(causes[0].whole, windows.data());
  ASSERT_THAT(causes[1].worst.findings, SizeIs(1));
  EXPECT_EQ(causes[1].worst.violations.front().actual, 28);
  EXPECT_EQ(causes[1].worst.violations.back().actual, 1);
}

// A test that is over limits on what it does, most of it by one call site.
WindowResult BusyTestAt(const std::string& name, Quantity quantity, int line) {
  WindowResult window = PassingTest(name);
  window.verdict = Verdict::kOverBudget;
  window.violations = {
      Over(MetricOf(quantity, MetricUnit::kBytes), 4096, 64, {"net.json", 14, ""}, {4096, 9})};
  window.made_by = {{.quantity = quantity,
                     .amount = {4096, 9},
                     .sites = {{At(LostFinding({3000, 1}), "net::Pool::Grow()", line)},
                               {At(LostFinding({1096, 8}), "net::Other()", 3)}}}};
  return window;
}

TEST(CausesTest, WhoAllocatesTooMuchIsOneCauseInAllTests) {
  const std::vector<WindowResult> windows = {BusyTestAt("A.B", Quantity::kAllocated, 7),
                                             BusyTestAt("A.C", Quantity::kPeak, 7),
                                             BusyTestAt("A.D", Quantity::kAllocated, 8)};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_THAT(causes[0].windows, testing::ElementsAre(&windows[0], &windows[1]));
  EXPECT_THAT(causes[0].worst.made_by, SizeIs(1));
  EXPECT_EQ(SiteTexts(causes, sample::kProject).front(), "net::Pool::Grow (src/net/pool.cc:7)");
}

// By bytes it is one call site; by blocks, another one.
TEST(CausesTest, WithoutACallSiteOfMostEachTestIsACauseOfItsOwn) {
  std::vector<WindowResult> windows = {BusyTestAt("A.B", Quantity::kAllocated, 7),
                                       BusyTestAt("A.C", Quantity::kAllocated, 7)};
  for (WindowResult& window : windows) window.violations[0].metric = Metric::kAllocatedBlocks;
  EXPECT_THAT(CollectCauses(windows), SizeIs(2));
}

TEST(CausesTest, LinesOfOneFunctionAreApart) {
  WindowResult other = FailingUncoveredTest("A.B");
  other.findings = {At(LostFinding({128, 2}), "net::Pool::Grow(unsigned long)", 90)};
  const std::vector<WindowResult> windows = {FailingUncoveredTest("A.C"), other};
  EXPECT_THAT(CollectCauses(windows), SizeIs(2));
}

// It is the same line to be put right.
TEST(CausesTest, WhatIsLostAndWhatGrowsAtOneLineIsOneCause) {
  WindowResult grows = FailingUncoveredTest("A.B");
  grows.violations = {Over(Metric::kSteadyBytes, 128, 0), Over(Metric::kSteadyBlocks, 2, 0)};
  grows.findings = {sample::RetainedFinding(Disposition::kSteady, {128, 2})};
  const std::vector<WindowResult> windows = {FailingUncoveredTest("A.C"), grows,
                                             FailingUncoveredTest("A.D")};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(1));
  ASSERT_THAT(causes[0].violations, SizeIs(4));
  EXPECT_EQ(causes[0].violations[0].amount, (Amount{256, 4}));
  EXPECT_EQ(causes[0].violations[2].amount, (Amount{128, 2}));
}

TEST(CausesTest, ALimitThatPermitsSomeKeepsTheWholeAmount) {
  WindowResult window = FailingTest();
  window.violations = {Over(Metric::kOutstandingBytes, 128, 64, {"net.json", 3, ""})};
  window.findings = {At(sample::PoolFinding({100, 1}), "net::One()", 1),
                     At(sample::PoolFinding({28, 1}), "net::Other()", 2)};
  const std::vector<WindowResult> windows = {window};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(causes[1].worst.violations.front().actual, 128);
}

// Two tests that leave descriptors open need not have anything in common.
TEST(CausesTest, ALimitThatNoCallSiteExplainsIsACauseOfOneTest) {
  WindowResult window = FailingTest("A.B");
  window.violations = {Over(Metric::kSteadyFileDescriptors, 1, 0)};
  WindowResult other = window;
  other.name = "A.C";
  const std::vector<WindowResult> windows = {window, other};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_THAT(causes[0].windows, SizeIs(1));
  EXPECT_EQ(SiteTexts(causes, "").front(), "");
}

TEST(CausesTest, IterationsOfATestAreOneTest) {
  const std::vector<WindowResult> windows = {FailingTest("A.B", 1), FailingTest("A.B", 2)};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_THAT(causes[0].windows, SizeIs(1));
}

TEST(CausesTest, TheLargestComesFirst) {
  WindowResult large = FailingUncoveredTest("A.C");
  large.findings = {At(LostFinding({4096, 1}), "net::Large()", 5)};
  const std::vector<WindowResult> windows = {FailingUncoveredTest("A.B"), large};
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(2));
  EXPECT_EQ(causes[0].amount.bytes, 4096);
}

TEST(CausesTest, ATestIsToldInFullUnlessAllItsCausesHaveBeen) {
  ReportedCauses reported;
  EXPECT_EQ(reported.FindOrAdd(FailingUncoveredTest("A.B")), "");
  EXPECT_EQ(reported.FindOrAdd(FailingUncoveredTest("A.C")), "A.B");
  WindowResult two = FailingUncoveredTest("A.D");
  two.findings.push_back(At(LostFinding({28, 1}), "net::Other()", 3));
  EXPECT_EQ(reported.FindOrAdd(two), "");
  two.name = "A.E";
  EXPECT_NE(reported.FindOrAdd(two), "");
}

TEST(CausesTest, OfOneWindowAreIndicesOfWhatItHas) {
  WindowResult window = FailingUncoveredTest();
  window.findings = {sample::RetainedFinding(Disposition::kOneTime, {8, 1}),
                     At(LostFinding({28, 1}), "net::Other()", 3), LostFinding({100, 1})};
  const std::vector<WindowCause> causes = CausesOf(window, LosingSites({window}));
  ASSERT_THAT(causes, SizeIs(2));
  std::vector<std::size_t> all;
  for (const WindowCause& cause : causes) {
    EXPECT_TRUE(cause.has_site);
    ASSERT_THAT(cause.findings, SizeIs(1));
    all.push_back(cause.findings.front());
    EXPECT_FALSE(cause.violations.empty());
  }
  EXPECT_THAT(all, testing::UnorderedElementsAre(1, 2));
  EXPECT_NE(causes[0].key, causes[1].key);
}

TEST(CausesTest, OfAWindowThatPassesAreNone) {
  EXPECT_THAT(CausesOf(PassingTest("A.B"), LosingSites({})), SizeIs(0));
}

// The suite loses an owner, and two tests what they had given it.
std::vector<WindowResult> OwnerAndOwned() {
  WindowResult suite = FailingUncoveredTest("Suite");
  suite.kind = WindowKind::kSuite;
  suite.findings = {At(LostFinding({64, 1}), "net::Owner()", 3)};
  std::vector<WindowResult> windows = {FailingUncoveredTest("A.B"), FailingUncoveredTest("A.C"),
                                       suite};
  for (std::size_t i = 0; i < 2; ++i) {
    Finding owned = LostFinding({1000, 10});
    owned.reach = Reach::kIndirectlyLost;
    owned.led_from = {suite.findings[0].stack[*suite.findings[0].user_frame]};
    windows[i].findings = {owned};
  }
  return windows;
}

TEST(CausesTest, WhatIsLostWithABlockOfAnotherWindowIsOfThatCause) {
  const std::vector<WindowResult> windows = OwnerAndOwned();
  const std::vector<Cause> causes = CollectCauses(windows);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].amount, (Amount{2064, 21}));
  EXPECT_EQ(causes[0].led_to, (Amount{2000, 20}));
  EXPECT_EQ(causes[0].whole, &windows[2]);
  EXPECT_EQ(causes[0].count, 3);
  const LosingSites sites(windows);
  EXPECT_EQ(CausesOf(windows[0], sites).front().key, CausesOf(windows[2], sites).front().key);
}

TEST(CausesTest, WhatIsLostWithABlockOfAnotherTestIsACauseOfItsOwn) {
  std::vector<WindowResult> windows = OwnerAndOwned();
  windows[2].kind = WindowKind::kTest;
  EXPECT_THAT(CollectCauses(windows), SizeIs(2));
}

TEST(CausesTest, WithoutThatBlockItIsACauseOfItsOwn) {
  std::vector<WindowResult> windows = OwnerAndOwned();
  windows[2].findings[0].disposition = Disposition::kAllowed;
  const std::vector<Cause> causes = CollectCauses({windows[0], windows[1]});
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(SiteTexts(causes, sample::kProject).front(), "net::Pool::Grow (src/net/pool.cc:88)");
  EXPECT_EQ(causes[0].led_to, Amount{});
}

TEST(CausesTest, ALimitThatNoCallSiteExplainsHasNone) {
  WindowResult window = FailingTest();
  window.findings.clear();
  window.violations = {Over(Metric::kFileDescriptors, 2, 0, {"net.json", 3, ""})};
  const std::vector<WindowCause> causes = CausesOf(window, LosingSites({window}));
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_FALSE(causes.front().has_site);
  EXPECT_THAT(causes.front().violations, testing::ElementsAre(0));
}

}  // namespace
}  // namespace leakgate
