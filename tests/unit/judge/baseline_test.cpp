// What is known from a baseline: by functions and counts, not by lines.
#include "runner/judge/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/attribution/leak_identity.h"
#include "runner/judge/window_verdict.h"
#include "runner/results/read_baseline.h"
#include "tests/support/processor_time.h"
#include "tests/unit/judge/evidence.h"
#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

using testing::HasSubstr;

TEST(SymbolicPathTest, EndsWithTheOutermostFunctionOfTheUsers) {
  EXPECT_EQ(SymbolicPath(sample::PoolStack()),
            "std::__new_allocator<int>::allocate\n"
            "std::vector<int, std::allocator<int> >::push_back\n"
            "net::Pool::Grow\n"
            "net::Client::Connect\n"
            "HttpTest_KeepAlive_Test::TestBody\n");
}

TEST(SymbolicPathTest, IsTheSameInAnotherBinaryAtOtherLines) {
  std::vector<Frame> moved = sample::PoolStack();
  for (Frame& frame : moved) {
    frame.line += 7;
    frame.module_offset += 4096;
    if (frame.module.starts_with("/home")) frame.module = "/ci/build/renamed_test";
  }
  EXPECT_EQ(SymbolicPath(moved), SymbolicPath(sample::PoolStack()));
}

TEST(SymbolicPathTest, LeavesOutTheNumbersThatCompilersGive) {
  const auto path_of = [](const std::string& function) {
    return SymbolicPath({sample::FrameOf(function)});
  };
  EXPECT_EQ(path_of("net::Run(int)::{lambda()#1}::operator()() const"),
            path_of("net::Run(int)::{lambda()#12}::operator()() const"));
  EXPECT_EQ(path_of("net::Grow(int) [clone .part.0]"), path_of("net::Grow(int)"));
}

TEST(SymbolicPathTest, IsTheSameHoweverDeepARecursionGoes) {
  const Frame node = sample::FrameOf("net::Visit(Node*)");
  EXPECT_EQ(SymbolicPath({node, node, node}), SymbolicPath({node}));
}

TEST(WindowIdentityTest, IsTheSameForAllInstancesOfATest) {
  const auto identity = [](const std::string& name) {
    return WindowIdentity(WindowKind::kTest, name);
  };
  EXPECT_EQ(identity("All/Many.Keeps/7"), "test All/Many.Keeps");
  EXPECT_EQ(identity("All/Many.Keeps/By_Name"), identity("All/Many.Keeps/7"));
  EXPECT_EQ(identity("Typed/1.Keeps"), "test Typed.Keeps");
  EXPECT_EQ(identity("My/Pattern/0.Keeps"), "test My/Pattern.Keeps");
  EXPECT_EQ(identity("Plain.Keeps"), "test Plain.Keeps");
  EXPECT_NE(identity("All/Many2.Keeps/7"), identity("All/Many.Keeps/7"));
  EXPECT_EQ(WindowIdentity(WindowKind::kSuite, "Typed/1"), "suite Typed/1");
}

TEST(SymbolicPathTest, TellsCallersApart) {
  std::vector<Frame> other = sample::PoolStack();
  other[3].function = "net::Server::Accept()";
  EXPECT_NE(SymbolicPath(other), SymbolicPath(sample::PoolStack()));
}

// A baseline of one run, as it is read from its report.
class BaselineTest : public merging::ReportsTest {
 protected:
  Baseline BaselineOf(const RunResult& run) const {
    const Expected<Baseline> baseline = ReadBaseline(Write("baseline.json", ToJson(run)));
    EXPECT_TRUE(baseline) << baseline.error().message;
    return baseline ? *baseline : Baseline{};
  }
  // Of the test HttpTest.KeepAlive, with this finding.
  static RunResult RunWith(Finding finding, Verdict verdict = Verdict::kOverBudget) {
    RunResult run = merging::FailingRun();
    run.windows[0].findings = {std::move(finding)};
    run.windows[0].verdict = verdict;
    return run;
  }
  std::int64_t KnownBlocks(const RunResult& run) const {
    const Baseline baseline = BaselineOf(run);
    const BaselineWindow* const window = baseline.find("test HttpTest.KeepAlive");
    if (window == nullptr) return -1;
    const auto known = window->blocks.find(SymbolicPath(sample::PoolStack()));
    return known == window->blocks.end() ? 0 : known->second;
  }
};

TEST_F(BaselineTest, HasWhatCountedInAWindowThatFailed) {
  EXPECT_EQ(KnownBlocks(RunWith(sample::PoolFinding({128, 2}))), 2);
}

TEST_F(BaselineTest, HasNothingOfAWindowThatPassed) {
  EXPECT_EQ(KnownBlocks(RunWith(sample::PoolFinding(), Verdict::kPass)), 0);
}

TEST_F(BaselineTest, HasWhatWasKnownInItAlready) {
  Finding finding = sample::PoolFinding({64, 1});
  finding.disposition = Disposition::kKnown;
  EXPECT_EQ(KnownBlocks(RunWith(finding, Verdict::kPass)), 1);
}

TEST_F(BaselineTest, HasNothingThatDidNotCount) {
  for (const Disposition disposition :
       {Disposition::kAllowed, Disposition::kOtherThread, Disposition::kReleasedLater}) {
    Finding finding = sample::PoolFinding();
    finding.disposition = disposition;
    EXPECT_EQ(KnownBlocks(RunWith(finding)), 0);
  }
}

TEST_F(BaselineTest, TakesTheMostOfAllRunsOfAMergedReport) {
  const auto path =
      Write("merged.json", merging::MergedText({RunWith(sample::PoolFinding({64, 1})),
                                                RunWith(sample::PoolFinding({192, 3}))}));
  const Expected<Baseline> baseline = ReadBaseline(path);
  ASSERT_TRUE(baseline) << baseline.error().message;
  const BaselineWindow* const window = baseline->find("test HttpTest.KeepAlive");
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->blocks.at(SymbolicPath(sample::PoolStack())), 3);
}

TEST_F(BaselineTest, ACutOffBaselineIsAnErrorAndNoEmptyOne) {
  const std::string text = ToJson(merging::FailingRun());
  const Expected<Baseline> baseline =
      ReadBaseline(Write("baseline.json", text.substr(0, text.size() / 2)));
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().exit_code, ExitCode::kUsage);
}

// Two blocks of one call site, held against `known` blocks of it.
std::vector<Disposition> Mark(std::int64_t known, std::string& explanation) {
  CallSites sites([](std::uint32_t) { return ResolvedStack{sample::PoolStack()}; });
  BaselineWindow baseline;
  if (known != 0) baseline.blocks[SymbolicPath(sample::PoolStack())] = known;
  WindowEvidence evidence;
  evidence.blocks.resize(2);
  evidence.facts.resize(2);
  MarkKnownBlocks(&baseline, sites, evidence);
  explanation = evidence.facts[0].explanation.get();
  return {evidence.facts[0].disposition, evidence.facts[1].disposition};
}

TEST(MarkKnownTest, KnowsAsManyBlocksAsTheBaselineHas) {
  std::string explanation;
  EXPECT_THAT(Mark(2, explanation), testing::Each(Disposition::kKnown));
  EXPECT_THAT(Mark(5, explanation), testing::Each(Disposition::kKnown));
}

TEST(MarkKnownTest, MoreBlocksThanTheBaselineHasAreAllNew) {
  std::string explanation;
  EXPECT_THAT(Mark(1, explanation), testing::Each(Disposition::kOutstanding));
  EXPECT_EQ(explanation, "2 blocks here, 1 in the baseline");
  EXPECT_THAT(Mark(0, explanation), testing::Each(Disposition::kOutstanding));
  EXPECT_EQ(explanation, "");
}

TEST(MarkKnownTest, WhatIsKnownDoesNotCount) {
  WindowResult window;
  window.findings = {sample::PoolFinding()};
  window.findings[0].reach = Reach::kLost;
  window.findings[0].disposition = Disposition::kKnown;
  DecideVerdict(window);
  EXPECT_EQ(window.verdict, Verdict::kPass);
  EXPECT_EQ(window.known, (Amount{64, 1}));
}

TEST(MarkKnownTest, ANumberOverItsLimitIsKnownUpToTheBaselines) {
  WindowResult window;
  AppliedBudget budget;
  budget.threads = AppliedLimit{0, {"net.json", 3, ""}};
  window.budget = std::make_shared<const AppliedBudget>(budget);
  window.threads = 2;
  BaselineWindow baseline;
  baseline.excess[Metric::kThreads] = 2;
  ApplyBaseline(&baseline, window);
  DecideVerdict(window);
  EXPECT_EQ(window.verdict, Verdict::kPass);
  EXPECT_EQ(window.known_violations.size(), 1u);

  window.threads = 3;
  DecideVerdict(window);
  EXPECT_EQ(window.verdict, Verdict::kOverBudget);
}

TEST(MarkKnownTest, AFreeingErrorIsKnownByItsTextAndPath) {
  WindowResult window;
  window.free_errors.resize(2);
  for (FreeErrorResult& error : window.free_errors) {
    error.text = "freed twice, by free()";
    error.freed_at = sample::PoolFinding();
  }
  window.free_errors[1].text = "another";
  BaselineWindow baseline;
  baseline.free_errors.insert(FreeErrorIdentity("freed twice, by free()", sample::PoolStack()));
  ApplyBaseline(&baseline, window);
  EXPECT_EQ(CountNewFreeErrors(window), 1);
  DecideVerdict(window);
  EXPECT_EQ(window.verdict, Verdict::kOverBudget);
}

TEST(SymbolicPathTest, CostsAsMuchForEachByteHoweverLongAFunctionsNameIs) {
  const auto make = [](std::size_t count) {
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += "#1";
    return std::vector<Frame>{sample::FrameOf(name)};
  };
  std::size_t number = 0;  // what has been asked before is known
  const double growth = test::GrowthOfCost(50'000, make, [&](const std::vector<Frame>& stack) {
    (void)SymbolicPath({sample::FrameOf(stack[0].function + std::to_string(++number))});
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace leakgate
