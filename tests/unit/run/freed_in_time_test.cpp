#include "runner/run/freed_in_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/attribution/call_sites.h"

namespace leakgate {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;

WindowResult WindowThatLeavesAThread() {
  WindowResult window;
  Finding thread;
  thread.kind = AllocationKind::kThreadStack;
  thread.disposition = Disposition::kSteady;
  thread.explanation = "in 64 repetitions it grew by 63 threads";
  window.mappings = {thread};
  return window;
}

// What a cycle with a pause has found of it: what m repetitions add, n more, the pause, and m more.
bool ApplyCycle(std::vector<std::int64_t> net, WindowResult& window,
                std::set<std::string>& lasting) {
  const Finding& thread = window.mappings[0];
  const SeriesBySite series = {{SeriesKey(thread), {{CallStackKey(thread), {net, net}}}}};
  const TestOutcomes outcomes;
  return ApplyPauses({series, {}, {}}, {48, outcomes}, window, lasting);
}

TEST(FreedInTimeTest, AcquitsThreadsThatEndInThePause) {
  WindowResult window = WindowThatLeavesAThread();
  std::set<std::string> lasting;
  EXPECT_TRUE(ApplyCycle({3, 45, -48, 3, 3, 62, -68, 3}, window, lasting));
  EXPECT_EQ(window.mappings[0].disposition, Disposition::kBounded);
}

TEST(FreedInTimeTest, ChargesThreadsThatStay) {
  WindowResult window = WindowThatLeavesAThread();
  std::set<std::string> lasting;
  EXPECT_TRUE(ApplyCycle({3, 45, 0, 3}, window, lasting));
  EXPECT_EQ(window.mappings[0].disposition, Disposition::kSteady);
  EXPECT_EQ(lasting.size(), 1u);
}

// Half a second is long for the repetitions of one quick test, and short for those of slow ones.
TEST(FreedInTimeTest, DoubtsThreadsThatDoNotGrowAgain) {
  WindowResult window = WindowThatLeavesAThread();
  std::set<std::string> lasting;
  EXPECT_FALSE(ApplyCycle({0, 0, 0, 0}, window, lasting));
  EXPECT_THAT(lasting, IsEmpty());
  DoubtUnseenThreads(window);
  EXPECT_EQ(window.mappings[0].disposition, Disposition::kUnconfirmed);
  EXPECT_THAT(window.mappings[0].explanation,
              EndsWith(", but not when the test was repeated once more"));
}

}  // namespace
}  // namespace leakgate
