// A baseline that is read again comes from its index, as long as that is certainly one of the
// report; whatever is wrong with it, the report is read.
#include "runner/results/read_baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "runner/attribution/leak_identity.h"
#include "runner/results/baseline_index.h"
#include "runner/results/index_files.h"
#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

class ReadBaselineTest : public merging::ReportsTest {
 protected:
  ReadBaselineTest() {
    fs::create_directory(directory_ / "cache");
    fs::permissions(directory_ / "cache", fs::perms::owner_all);
    setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
  }
  ~ReadBaselineTest() override { unsetenv("XDG_CACHE_HOME"); }

  // Writes a report of one finding that is large enough for an index.
  fs::path WriteReport(std::int64_t blocks, std::size_t bytes = 70'000) const {
    RunResult run = merging::FailingRun();
    run.arguments = {std::string(bytes, 'x')};
    run.windows[0].findings = {sample::PoolFinding({64 * blocks, blocks})};
    run.windows[0].verdict = Verdict::kOverBudget;
    return Write("baseline.json", ToJson(run));
  }
  // Returns how many blocks are known; 0 if none are.
  static std::int64_t KnownBlocks(const fs::path& report) {
    const Expected<Baseline> baseline = ReadBaseline(report);
    EXPECT_TRUE(baseline) << baseline.error().message;
    const BaselineWindow* const window = baseline ? baseline->find(kTest) : nullptr;
    if (window == nullptr) return 0;
    const auto known = window->blocks.find(SymbolicPath(sample::PoolStack()));
    return known == window->blocks.end() ? 0 : known->second;
  }
  // Replaces the index by one that tells more blocks, so that its use can be seen.
  static void ForgeIndex(const fs::path& report, std::int64_t blocks, bool is_settled = false) {
    const std::optional<BaselineIndex> index = OpenIndex(IndexPathOf(report));
    ASSERT_TRUE(index);
    IndexedReport indexed = index->report();
    indexed.is_settled = is_settled;
    BaselineWindows windows;
    windows[kTest].blocks[SymbolicPath(sample::PoolStack())] = blocks;
    KeepIndex(IndexPathOf(report), IndexText(indexed, windows));
  }

  static constexpr const char* kTest = "test HttpTest.KeepAlive";
};

// What is not known of needs no names (window_judge.h), so it has to be told from what is.
TEST_F(ReadBaselineTest, HasNothingOfOtherTestsWithAnIndexAndWithout) {
  const fs::path report = WriteReport(3);
  for (int i = 0; i < 2; ++i) {
    const Expected<Baseline> baseline = ReadBaseline(report);
    ASSERT_TRUE(baseline);
    EXPECT_EQ(baseline->find("test Another.Test"), nullptr);
    EXPECT_NE(baseline->find(kTest), nullptr);
  }
}

TEST_F(ReadBaselineTest, ComesFromTheIndexTheSecondTime) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  EXPECT_EQ(KnownBlocks(report), 2);
  ForgeIndex(report, 5);
  EXPECT_EQ(KnownBlocks(report), 5);
}

TEST_F(ReadBaselineTest, ComesFromTheReportOnceThatHasChanged) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  ForgeIndex(report, 5);
  (void)WriteReport(3);  // as many bytes
  EXPECT_EQ(KnownBlocks(report), 3);
  EXPECT_EQ(KnownBlocks(report), 3);
}

TEST_F(ReadBaselineTest, AReportThatStaysAsItWasIsNotReadAtAll) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  ForgeIndex(report, 5, true);
  EXPECT_EQ(KnownBlocks(report), 5);
  fs::last_write_time(report, fs::last_write_time(report) + std::chrono::hours(1));
  EXPECT_EQ(KnownBlocks(report), 5);  // its bytes are the same
  (void)WriteReport(3);
  EXPECT_EQ(KnownBlocks(report), 3);
}

TEST_F(ReadBaselineTest, ADamagedIndexIsDropped) {
  const fs::path report = WriteReport(2);
  for (const std::string text : {"", "no index", "{}"}) {
    EXPECT_EQ(KnownBlocks(report), 2);
    KeepIndex(IndexPathOf(report), text);
    EXPECT_EQ(KnownBlocks(report), 2);
    EXPECT_TRUE(OpenIndex(IndexPathOf(report)));
  }
}

TEST_F(ReadBaselineTest, DamageThatIsSeenLateIsNoFindingLess) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  std::ifstream in(IndexPathOf(report), std::ios::binary);
  std::string index{std::istreambuf_iterator<char>(in), {}};
  index.back() = static_cast<char>(index.back() ^ 1);
  KeepIndex(IndexPathOf(report), index);
  EXPECT_EQ(KnownBlocks(report), 2);
}

TEST_F(ReadBaselineTest, AnIndexThatOthersMayHaveWrittenIsNotUsed) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  ForgeIndex(report, 5);
  fs::permissions(IndexPathOf(report).parent_path(), fs::perms::all);
  EXPECT_EQ(KnownBlocks(report), 2);
}

TEST_F(ReadBaselineTest, AFifoInThePlaceOfTheIndexIsReplaced) {
  const fs::path report = WriteReport(3);
  const fs::path index = IndexPathOf(report);
  fs::create_directories(index.parent_path());
  fs::permissions(index.parent_path(), fs::perms::owner_all);
  fs::permissions(index.parent_path().parent_path(), fs::perms::owner_all);
  ASSERT_EQ(::mkfifo(index.c_str(), 0600), 0);
  EXPECT_EQ(KnownBlocks(report), 3);
  EXPECT_TRUE(fs::is_regular_file(index));
  ForgeIndex(report, 4);
  EXPECT_EQ(KnownBlocks(report), 4);
}

TEST_F(ReadBaselineTest, OnlyTheUserMayReadTheIndex) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  const fs::path index = IndexPathOf(report);
  const fs::perms others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(index).permissions() & others, fs::perms::none);
  EXPECT_EQ(fs::status(index.parent_path()).permissions() & others, fs::perms::none);
}

TEST_F(ReadBaselineTest, ASmallReportHasNoIndex) {
  const fs::path report = WriteReport(2, 100);
  EXPECT_EQ(KnownBlocks(report), 2);
  EXPECT_FALSE(fs::exists(IndexPathOf(report)));
  EXPECT_TRUE(fs::is_empty(directory_ / "cache"));
}

TEST_F(ReadBaselineTest, NeedsNoCache) {
  const fs::path report = WriteReport(2);
  for (const char* const cache : {"/dev/null", "/proc/nowhere/deeper", "relative"}) {
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", "/nonexistent", 1);
    EXPECT_EQ(KnownBlocks(report), 2) << cache;
  }
}

TEST_F(ReadBaselineTest, WithRunsToPassOnTheReportIsRead) {
  const fs::path report = WriteReport(2);
  EXPECT_EQ(KnownBlocks(report), 2);
  ForgeIndex(report, 5);
  int runs = 0;
  const Expected<Baseline> baseline = ReadBaseline(report, [&](RunResult&&) { ++runs; });
  ASSERT_TRUE(baseline);
  EXPECT_EQ(runs, 1);
}

TEST_F(ReadBaselineTest, AReportThatIsWrongNeverHasAnIndex) {
  const fs::path report = WriteReport(2);
  const std::string text = Read("baseline.json");
  (void)Write("baseline.json", text.substr(0, text.size() - 3));
  EXPECT_FALSE(ReadBaseline(report));
  EXPECT_FALSE(ReadBaseline(report));
  EXPECT_FALSE(fs::exists(IndexPathOf(report)));
}

TEST_F(ReadBaselineTest, KeepsNoMoreThanSomeIndexes) {
  const fs::path report = WriteReport(2);
  for (int i = 0; i < 70; ++i) {
    const fs::path copy = directory_ / ("copy" + std::to_string(i) + ".json");
    fs::copy_file(report, copy);
    EXPECT_EQ(KnownBlocks(copy), 2);
  }
  const fs::path folder = IndexPathOf(report).parent_path();
  const auto kept = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_GE(kept, 48);
  EXPECT_LE(kept, 64);
}

}  // namespace
}  // namespace leakgate
