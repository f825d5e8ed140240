// The amounts of each window: outstanding, growth and allocated.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

nlohmann::json Amount(long bytes, long blocks) { return {{"bytes", bytes}, {"blocks", blocks}}; }

class WindowsTest : public BothModes {
 protected:
  static const GatedRun& Run() { return RunTests("windows"); }
  static nlohmann::json Test(const std::string& name) { return Run().Test("Amounts." + name); }
};

TEST_P(WindowsTest, GrowthIsWhatATestAddsUp) {
  EXPECT_EQ(Test("AllocatesAndFrees")["growth"], Amount(200, 1));
}

TEST_P(WindowsTest, ReplacementIsOutstandingButNoGrowth) {
  const nlohmann::json window = Test("Replaces");

  EXPECT_EQ(window["outstanding"], Amount(1000, 1));
  EXPECT_EQ(window["growth"], Amount(0, 0));
}

TEST_P(WindowsTest, GrowthIsNegativeWhenAnEarlierBlockIsFreed) {
  const nlohmann::json window = Test("FreesAnEarlierBlock");

  EXPECT_EQ(window["outstanding"], Amount(0, 0));
  EXPECT_EQ(window["growth"], Amount(-1000, -1));
}

TEST_P(WindowsTest, EmptyTestHasNoGrowth) {
  EXPECT_EQ(Test("DoesNothing")["growth"], Amount(0, 0));
}

TEST_P(WindowsTest, SuiteIsChargedWithItsOwnBlocksOnly) {
  EXPECT_EQ(Run().Window("suite", "Amounts")["outstanding"], Amount(40, 1));
}

// 40 of its own, 200 of a test.
TEST_P(WindowsTest, SuitesGrowthHoldsThatOfItsTests) {
  EXPECT_EQ(Run().Window("suite", "Amounts")["growth"], Amount(240, 2));
}

TEST_P(WindowsTest, ProgramsGrowthHoldsThatOfItsSuites) {
  EXPECT_EQ(Run().Window("program", "windows_" + GetParam())["growth"], Amount(240, 2));
}

TEST_P(WindowsTest, TellsWhatTheProcessHadLiveAtBothEnds) {
  const nlohmann::json live = Test("FreesAnEarlierBlock")["live_bytes"];

  EXPECT_EQ(live["end"].get<long>() - live["begin"].get<long>(), -1000);
}

TEST_P(WindowsTest, TestsFollowEachOtherWithinTheSuitesTime) {
  const GatedRun& run = Run();
  const nlohmann::json suite = run.Window("suite", "Amounts");
  double before = suite["begin_seconds"];
  EXPECT_GT(before, run.Window("program", "windows_" + GetParam())["begin_seconds"]);
  for (const char* name : {"AllocatesAndFrees", "Replaces", "FreesAnEarlierBlock"}) {
    const nlohmann::json test = run.Test("Amounts." + std::string(name));
    EXPECT_GE(test["begin_seconds"], before) << name;
    EXPECT_GT(test["end_seconds"], test["begin_seconds"]) << name;
    before = test["end_seconds"];
  }
  EXPECT_GE(suite["end_seconds"], before);
  EXPECT_LE(suite["end_seconds"], run.report["wall_seconds"]);
}

LEAKGATE_IN_BOTH_MODES(WindowsTest);

// The stream's own strings come on top in the other mode.
TEST(ListenerWindowsTest, AllocatedCountsWhatWasFreedToo) {
  const GatedRun run = SharedGatedRun({FixturePath("windows_listener"), "--gtest_filter=*"});

  EXPECT_EQ(run.Test("Amounts.AllocatesAndFrees")["allocated"]["bytes"].get<long>() -
                run.Test("Amounts.DoesNothing")["allocated"]["bytes"].get<long>(),
            300);
}

}  // namespace
}  // namespace leakgate::test
