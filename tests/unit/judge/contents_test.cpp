#include "runner/judge/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/base/descriptors.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

WindowResult TestWithContents(std::size_t findings) {
  WindowResult window = sample::FailingUncoveredTest();
  window.findings.assign(findings, sample::LostFinding());
  for (Finding& finding : window.findings) finding.contents = "00";
  return window;
}

std::ptrdiff_t CountShown(ShownContents shown, WindowResult window) {
  LimitContents(shown, window);
  return std::count_if(window.findings.begin(), window.findings.end(),
                       [](const Finding& finding) { return !finding.contents.empty(); });
}

TEST(ContentsTest, AreShownOfFewFindingsOrOfAll) {
  EXPECT_EQ(CountShown(ShownContents::kFew, TestWithContents(3)), 3);
  EXPECT_EQ(CountShown(ShownContents::kFew, TestWithContents(4)), 0);
  EXPECT_EQ(CountShown(ShownContents::kAll, TestWithContents(4)), 4);
}

TEST(ContentsTest, AreNotShownOfAComponentWhoseFileSaysSo) {
  WindowResult window = TestWithContents(2);
  window.findings[0].component = "vault";
  AppliedBudget vault = sample::BudgetOf("vault");
  vault.shows_contents = false;
  window.code_budgets = {std::make_shared<const AppliedBudget>(vault)};
  EXPECT_EQ(CountShown(ShownContents::kFew, window), 1);
}

TEST(ContentsReaderTest, ReadsALostBlockOfEachCallStackThatNoOtherLeadsTo) {
  const std::string text = "Hello";
  const auto block = [&](std::uint32_t stack) {
    return LiveBlock{.address = reinterpret_cast<std::uint64_t>(text.data()),
                     .size_bytes = text.size(),
                     .stack = stack};
  };
  BlockFacts lost;
  lost.reach = Reach::kLost;
  ContentsReader reader(OwnPid());
  BlockFacts first = lost;
  reader.Read(block(1), first);
  EXPECT_EQ(first.contents.get(), "48656c6c6f");
  BlockFacts second = lost;
  reader.Read(block(1), second);
  EXPECT_TRUE(second.contents.empty());
  BlockFacts led = lost;
  led.leading = {1, 1};
  reader.Read(block(2), led);
  EXPECT_TRUE(led.contents.empty());
  BlockFacts retained;
  retained.reach = Reach::kRetained;
  reader.Read(block(2), retained);
  EXPECT_TRUE(retained.contents.empty());
  BlockFacts gone = lost;
  reader.Read(LiveBlock{.address = 64, .size_bytes = 8, .stack = 3}, gone);
  EXPECT_TRUE(gone.contents.empty());
}

}  // namespace
}  // namespace leakgate
