#include <gmock/gmock.h>

#include "runner/report/left_behind_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

WindowResult WithFindings(std::string name, std::vector<Finding> findings) {
  WindowResult window = sample::PassingTest(std::move(name));
  window.findings = std::move(findings);
  return window;
}

std::string PassedTextOf(const std::vector<WindowResult>& windows) {
  return PassedFindingsText(windows, {Colour::kOff, sample::kProject});
}

const Finding kOneTime = sample::RetainedFinding(Disposition::kOneTime, {64, 1});
const Finding kReplaced = sample::RetainedFinding(Disposition::kReplaced, {32, 1});

TEST(PassedFindingsTest, TellAmountCallSiteFateAndTest) {
  EXPECT_EQ(PassedTextOf({WithFindings("A.B", {kOneTime})}),
            "    64 B in 1 block by net::Pool::Grow (src/net/pool.cc:88): retained, one-time "
            "initialisation (A.B)\n");
}

TEST(PassedFindingsTest, AreOneLineWhereManyTestsLeaveTheSame) {
  const std::string text =
      PassedTextOf({WithFindings("A.B", {kReplaced}), WithFindings("A.C", {kReplaced}),
                    WithFindings("A.D", {kReplaced}), WithFindings("A.E", {kReplaced})});
  EXPECT_EQ(text,
            "    128 B in 4 blocks by net::Pool::Grow (src/net/pool.cc:88): retained, replaced "
            "(A.B, A.C, A.D and 1 more)\n");
}

TEST(PassedFindingsTest, LeaveOutWhatCountsAndTheFrameworksOwn) {
  EXPECT_EQ(PassedTextOf({WithFindings(
                "A.B", {sample::PoolFinding(), sample::FrameworkFinding({8, 1}, "gmock"),
                        sample::RetainedFinding(Disposition::kSteady)})}),
            "");
}

}  // namespace
}  // namespace leakgate
