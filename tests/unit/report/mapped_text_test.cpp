#include <gmock/gmock.h>

#include "runner/report/failure_text.h"
#include "runner/report/left_behind_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Finding MappedFinding(Amount amount = {4096, 1}) {
  Finding finding = sample::PoolFinding();
  finding.amount = amount;
  finding.kind = AllocationKind::kMappedFile;
  finding.reach = Reach::kUnknown;
  return finding;
}

WindowResult WithMappings(std::string name, std::vector<Finding> mappings) {
  WindowResult window = sample::PassingTest(std::move(name));
  for (const Finding& mapping : mappings) window.mapped += mapping.amount;
  window.mappings = std::move(mappings);
  return window;
}

std::string MappedTextOf(const WindowResult& window) {
  return MappedText(window, {Colour::kOff, sample::kProject});
}

std::string SitesOf(const std::vector<WindowResult>& windows) {
  return MappedSitesText(windows, {Colour::kOff, sample::kProject});
}

TEST(MappedTextTest, IsEachCallSiteWhereALimitIsExceeded) {
  WindowResult window = WithMappings("A.B", {MappedFinding()});
  window.violations = {sample::Over(Metric::kMappedBytes, 4096, 0, {"net.json", 7, ""}, {4096, 1})};
  EXPECT_THAT(MappedTextOf(window), AllOf(HasSubstr("  4096 B in 1 mapping, mapped file\n"),
                                          HasSubstr("> net::Pool::Grow(unsigned long)")));
}

TEST(MappedTextTest, LeavesOutWhatIsAllowed) {
  WindowResult window = WithMappings("A.B", {MappedFinding()});
  window.mappings.push_back(MappedFinding({8192, 1}));
  window.mappings[1].disposition = Disposition::kAllowed;
  window.violations = {sample::Over(Metric::kMappedBlocks, 1, 0, {"net.json", 7, ""}, {4096, 1})};
  EXPECT_THAT(MappedTextOf(window), Not(HasSubstr("8192")));
}

TEST(MappedTextTest, IsOneLineWhereSomethingElseFails) {
  WindowResult window = WithMappings("A.B", {MappedFinding()});
  window.violations = {sample::Over(Metric::kLostBytes, 128, 0)};
  EXPECT_EQ(MappedTextOf(window), "  mapped: 4096 B in 1 mapping, not limited\n");
  sample::ChangeBudget(window, [](AppliedBudget& budget) { budget.mapped.bytes = AppliedLimit{}; });
  EXPECT_EQ(MappedTextOf(window), "  mapped: 4096 B in 1 mapping, within its limit\n");
}

TEST(MappedTextTest, IsNothingWhereNothingIsMapped) {
  EXPECT_EQ(MappedTextOf(WithMappings("A.B", {})), "");
}

TEST(MappedTextTest, IsAtTheCallSiteOfTheMappingWhereNothingElseIsOver) {
  WindowResult window = sample::FailingTest();
  window.mappings = {MappedFinding()};
  window.mappings[0].stack.Edit()[*window.mappings[0].user_frame].line = 99;
  EXPECT_EQ(FailurePosition(window)->line, 88);
  window.violations = {sample::Over(Metric::kMappedBytes, 4096, 0)};
  EXPECT_EQ(FailurePosition(window)->line, 99);
}

TEST(MappedSitesTextTest, IsOneLineForWhatManyWindowsLeaveAlike) {
  EXPECT_EQ(
      SitesOf({WithMappings("A.B", {MappedFinding()}), WithMappings("A.C", {MappedFinding()})}),
      "    8192 B in 2 mappings by net::Pool::Grow (src/net/pool.cc:88): mapped file "
      "(A.B, A.C)\n");
}

}  // namespace
}  // namespace leakgate
