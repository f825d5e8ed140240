#include <gmock/gmock.h>

#include "runner/report/summary_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::PassingTest;
using sample::RunOf;
using std::chrono::milliseconds;

constexpr std::int64_t kMebibyte = 1 << 20;

WindowResult Costing(std::string name, milliseconds time, std::int64_t peak_bytes = 0) {
  WindowResult window = PassingTest(std::move(name));
  window.begin = milliseconds(1000);
  window.end = window.begin + time;
  window.live_bytes_at_begin = 5 * kMebibyte;
  window.peak_live_bytes = window.live_bytes_at_begin + peak_bytes;
  return window;
}

// Thirty usual tests, and `others` among them.
RunResult SuiteWith(std::vector<WindowResult> others) {
  for (int i = 0; i < 30; ++i) {
    others.push_back(Costing("Usual.T" + std::to_string(i), milliseconds(10), 100'000));
  }
  return RunOf(std::move(others));
}

TEST(CostlyTestsTest, NameNoneWhereAllAreAlike) {
  EXPECT_EQ(SlowestThatStandOut(SuiteWith({})), "");
  EXPECT_EQ(HeaviestThatStandOut(SuiteWith({})), "");
}

TEST(CostlyTestsTest, NameThoseThatTakeHalfTheTime) {
  EXPECT_EQ(SlowestThatStandOut(SuiteWith({Costing("Db.Recovery", milliseconds(900)),
                                           Costing("Db.Compaction", milliseconds(1100)),
                                           Costing("Db.Open", milliseconds(600))})),
            "slowest: Db.Compaction 1.10 s, Db.Recovery 900 ms (68 % of all tests' time)");
}

TEST(CostlyTestsTest, NameNoSlowOneOfASuiteThatIsFast) {
  EXPECT_EQ(SlowestThatStandOut(SuiteWith({Costing("Db.Open", milliseconds(900))})), "");
}

TEST(CostlyTestsTest, NameNoneOfASuiteThatCanBeLookedThrough) {
  const RunResult result = RunOf({Costing("A.B", milliseconds(9000), 900 * kMebibyte)});
  EXPECT_EQ(SlowestThatStandOut(result), "");
  EXPECT_EQ(HeaviestThatStandOut(result), "");
}

TEST(CostlyTestsTest, NameThoseThatTakeFarMoreMemoryThanTheUsual) {
  EXPECT_EQ(HeaviestThatStandOut(SuiteWith({Costing("Db.Open", milliseconds(10), 15 * kMebibyte),
                                            Costing("Db.Fill", milliseconds(10), 64 * kMebibyte)})),
            "heaviest: Db.Fill 64.0 MiB at its peak");
}

TEST(CostlyTestsTest, CountOnlyWhatTheTestAddedToItsPeak) {
  RunResult result =
      RunOf({Costing("A.B", milliseconds(1), 2000), Costing("A.C", milliseconds(1))});
  EXPECT_EQ(Heaviest(result), "heaviest: A.B 2000 B at its peak");
}

TEST(CostlyTestsTest, AreListedOfAnySuiteForWhoAsks) {
  const RunResult result = RunOf(
      {Costing("A.B", milliseconds(2)), Costing("A.C", milliseconds(3)), sample::ProgramWindow()});
  EXPECT_EQ(Slowest(result), "slowest: A.C 3 ms, A.B 2 ms");
}

TEST(CostlyTestsTest, LeaveOutTestsThatTakeNoTimeToSpeakOf) {
  WindowResult test = Costing("A.B", milliseconds(0));
  test.end += std::chrono::microseconds(40);
  EXPECT_EQ(Slowest(RunOf({test})), "");
}

TEST(CostlyTestsTest, AreNoneWhereNoTestRan) {
  EXPECT_EQ(Slowest(RunOf({sample::ProgramWindow()})), "");
  EXPECT_EQ(SlowestThatStandOut(RunOf({})), "");
}

}  // namespace
}  // namespace leakgate
