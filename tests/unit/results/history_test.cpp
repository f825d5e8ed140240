// A history: added once, asked often, and never damaged.
#include "runner/results/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HistoryFinding FindingOf(std::int64_t blocks) {
  return {"HttpTest.KeepAlive", "net",       "net::Pool::Grow (pool.cc)",
          "net::Pool::Grow\n",  64 * blocks, blocks};
}

HistoryRun RunOf(const std::string& digest, const std::string& verdict, std::int64_t blocks) {
  HistoryRun run{digest, "build/http_test", verdict, {}, {}};
  run.tests.push_back({"HttpTest.KeepAlive", "net", verdict, 64 * blocks, blocks, 4096});
  if (blocks != 0) run.findings.push_back(FindingOf(blocks));
  return run;
}

class HistoryTest : public merging::ReportsTest {
 protected:
  History Open(Database::Mode mode = Database::Mode::kWrite) const {
    Expected<History> history = History::Open(file_, mode);
    EXPECT_TRUE(history) << history.error().message;
    return *std::move(history);
  }
  void Add(const HistoryRun& run, const std::string& commit, const std::string& time) const {
    History history = Open();
    ASSERT_TRUE(history.Begin());
    ASSERT_TRUE(history.Add(run, {commit, time}));
    ASSERT_TRUE(history.Commit());
  }
  void ChangeAsAnotherUser(const char* sql) const {
    sqlite3* stranger = nullptr;
    EXPECT_EQ(sqlite3_open(file_.string().c_str(), &stranger), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(stranger, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(stranger);
  }
  std::string ErrorOf(Database::Mode mode) const {
    const Expected<History> history = History::Open(file_, mode);
    if (history) return "no error";
    EXPECT_EQ(history.error().exit_code, ExitCode::kUsage);
    return history.error().message;
  }

  std::filesystem::path file_ = directory_ / "leaks.sqlite";
};

TEST_F(HistoryTest, TellsWhereAFindingWasSeenFirstAndLast) {
  Add(RunOf("2", "over_budget", 2), "bbb", "2026-01-02T00:00:00Z");
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  const auto seen = Open(Database::Mode::kRead).Findings(std::nullopt, std::nullopt);
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_THAT(*seen, SizeIs(1));
  EXPECT_EQ(seen->front().first.commit, "aaa");
  EXPECT_EQ(seen->front().last.commit, "bbb");
  EXPECT_EQ(seen->front().finding.blocks, 2);
  EXPECT_EQ(seen->front().runs, 2);
}

TEST_F(HistoryTest, LeavesARunAloneThatItHas) {
  History history = Open();
  ASSERT_TRUE(history.Begin());
  EXPECT_EQ(history.Add(RunOf("1", "over_budget", 1), {"aaa", "2026-01-01T00:00:00Z"}), true);
  EXPECT_EQ(history.Add(RunOf("1", "over_budget", 1), {"bbb", "2026-01-02T00:00:00Z"}), false);
  ASSERT_TRUE(history.Commit());
  EXPECT_EQ(history.Findings(std::nullopt, std::nullopt)->front().runs, 1);
}

TEST_F(HistoryTest, KeepsNothingOfWhatWasNotCommitted) {
  {
    History history = Open();
    ASSERT_TRUE(history.Begin());
    ASSERT_TRUE(history.Add(RunOf("1", "over_budget", 1), {"aaa", "2026-01-01T00:00:00Z"}));
  }
  EXPECT_THAT(*Open().Findings(std::nullopt, std::nullopt), IsEmpty());
}

TEST_F(HistoryTest, SelectsByComponentAndTest) {
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  const History history = Open();
  EXPECT_THAT(*history.Findings("net", std::nullopt), SizeIs(1));
  EXPECT_THAT(*history.Findings("disk", std::nullopt), IsEmpty());
  EXPECT_THAT(*history.Findings(std::nullopt, "HttpTest.KeepAlive"), SizeIs(1));
  EXPECT_THAT(*history.Findings("net", "Other.Test"), IsEmpty());
}

TEST_F(HistoryTest, TakesNoTextForSql) {
  const std::string hostile = "x'; DROP TABLE runs; --";
  HistoryRun run = RunOf("1", "over_budget", 1);
  run.binary = run.findings[0].component = run.findings[0].test = hostile;
  Add(run, hostile, "2026-01-01T00:00:00Z");
  const auto seen = Open().Findings(hostile, hostile);
  ASSERT_TRUE(seen);
  ASSERT_THAT(*seen, SizeIs(1));
  EXPECT_EQ(seen->front().first.commit, hostile);
}

TEST_F(HistoryTest, CallsATestFlakyThatPassedAndFailedAtOneCommit) {
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  Add(RunOf("2", "pass", 0), "aaa", "2026-01-02T00:00:00Z");
  const auto flaky = Open().FlakyTests(std::nullopt, std::nullopt);
  ASSERT_TRUE(flaky) << flaky.error().message;
  ASSERT_THAT(*flaky, SizeIs(1));
  EXPECT_EQ(flaky->front().passed, 1);
  EXPECT_EQ(flaky->front().failed, 1);
}

TEST_F(HistoryTest, DoesNotCallATestFlakyThatWasFixed) {
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  Add(RunOf("2", "pass", 0), "bbb", "2026-01-02T00:00:00Z");
  EXPECT_THAT(*Open().FlakyTests(std::nullopt, std::nullopt), IsEmpty());
}

TEST_F(HistoryTest, TellsTrendsInTheOrderOfTime) {
  Add(RunOf("3", "pass", 0), "ccc", "2026-01-03T00:00:00Z");
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  Add(RunOf("2", "over_budget", 4), "bbb", "2026-01-02T00:00:00Z");
  for (const TrendSubject subject : {TrendSubject::kComponent, TrendSubject::kTest}) {
    const auto trend = Open().Trend(subject);
    ASSERT_TRUE(trend) << trend.error().message;
    ASSERT_THAT(*trend, SizeIs(3));
    EXPECT_EQ((*trend)[0].outstanding_bytes, 64);
    EXPECT_EQ((*trend)[1].outstanding_bytes, 256);
    EXPECT_EQ((*trend)[2].outstanding_bytes, 0);
    EXPECT_EQ((*trend)[2].occasion.commit, "ccc");
    EXPECT_EQ((*trend)[2].peak_bytes, 4096);
  }
  const auto call_sites = Open().Trend(TrendSubject::kCallSite);
  ASSERT_TRUE(call_sites) << call_sites.error().message;
  EXPECT_THAT(*call_sites, SizeIs(2));
}

TEST_F(HistoryTest, CountsARepeatAtTheSameCommitOnce) {
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  Add(RunOf("2", "over_budget", 3), "aaa", "2026-01-01T01:00:00Z");
  const auto trend = Open().Trend(TrendSubject::kComponent);
  ASSERT_TRUE(trend);
  ASSERT_THAT(*trend, SizeIs(1));
  EXPECT_EQ(trend->front().outstanding_blocks, 3);
}

// Each of the tests "A.0", "A.1", ... left as many blocks as is told.
HistoryRun RunOfTests(const std::string& binary, const std::vector<std::int64_t>& blocks) {
  HistoryRun run{binary, binary, "pass", {}, {}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string name = "A." + std::to_string(i);
    run.tests.push_back({name, "net", "pass", 64 * blocks[i], blocks[i], 4096});
    run.findings.push_back({name, "net", "Grow", "Grow\n", 64 * blocks[i], blocks[i]});
  }
  return run;
}

class HistoryTrendTest : public HistoryTest {
 protected:
  // Returns the change of the last of two commits, the runs of which are told.
  TrendChange ChangeOf(TrendSubject subject, std::vector<HistoryRun> first,
                       std::vector<HistoryRun> second) const {
    std::size_t added = 0;
    for (std::vector<HistoryRun>* runs : {&first, &second}) {
      const bool is_first = runs == &first;
      for (HistoryRun& run : *runs) {
        run.digest = std::to_string(++added);
        Add(run, is_first ? "aaa" : "bbb",
            is_first ? "2026-01-01T00:00:00Z" : "2026-01-02T00:00:00Z");
      }
    }
    const auto trend = Open().Trend(subject);
    EXPECT_TRUE(trend) << trend.error().message;
    EXPECT_GE(trend->size(), 2U);
    EXPECT_EQ(trend->front().change, std::nullopt);
    return trend->back().change.value_or(TrendChange{});
  }
};

TEST_F(HistoryTrendTest, ChangesByWhatBothCommitsRan) {
  for (const TrendSubject subject : {TrendSubject::kComponent, TrendSubject::kCallSite}) {
    EXPECT_EQ(ChangeOf(subject, {RunOfTests("a", {1, 2})}, {RunOfTests("a", {1, 5})}),
              (TrendChange{true, 192, 3, 0, 0}));
    std::filesystem::remove(file_);
  }
}

TEST_F(HistoryTrendTest, DoesNotTakeATestThatOnlyOneCommitRanForAChange) {
  for (const TrendSubject subject : {TrendSubject::kComponent, TrendSubject::kCallSite}) {
    EXPECT_EQ(ChangeOf(subject, {RunOfTests("a", {1, 2, 3})}, {RunOfTests("a", {2})}),
              (TrendChange{true, 64, 1, 2, 0}));
    std::filesystem::remove(file_);
  }
}

TEST_F(HistoryTrendTest, DoesNotTakeABinaryThatOnlyOneCommitRanForAChange) {
  for (const TrendSubject subject : {TrendSubject::kComponent, TrendSubject::kCallSite}) {
    EXPECT_EQ(
        ChangeOf(subject, {RunOfTests("a", {1})}, {RunOfTests("a", {1}), RunOfTests("b", {7, 7})}),
        (TrendChange{true, 0, 0, 0, 2}));
    std::filesystem::remove(file_);
  }
}

TEST_F(HistoryTrendTest, ComparesATestOfOneNameByTheBinariesThatBothCommitsRan) {
  EXPECT_EQ(ChangeOf(TrendSubject::kTest, {RunOfTests("a", {1})},
                     {RunOfTests("a", {2}), RunOfTests("b", {9})}),
            (TrendChange{true, 64, 1, 0, 1}));
}

TEST_F(HistoryTrendTest, KnowsABinaryThatWasBuiltInAnotherFolder) {
  EXPECT_EQ(ChangeOf(TrendSubject::kComponent, {RunOfTests("/ci/1/net_test", {1})},
                     {RunOfTests("/ci/2/net_test", {3})}),
            (TrendChange{true, 128, 2, 0, 0}));
}

TEST_F(HistoryTrendTest, DoesNotGuessWhichOfTwoBinariesOfOneNameIsMeant) {
  EXPECT_EQ(ChangeOf(TrendSubject::kComponent, {RunOfTests("/ci/1/net_test", {1})},
                     {RunOfTests("/ci/2/a/net_test", {3}), RunOfTests("/ci/2/b/net_test", {3})}),
            (TrendChange{false, 0, 0, 1, 2}));
}

TEST_F(HistoryTrendTest, TakesATestThatMovedToAnotherComponentForAChange) {
  HistoryRun moved = RunOfTests("a", {1, 2});
  moved.tests[1].component = "disk";
  EXPECT_EQ(ChangeOf(TrendSubject::kComponent, {RunOfTests("a", {1, 2})}, {moved}),
            (TrendChange{true, -128, -2, 0, 0}));
}

TEST_F(HistoryTest, RefusesAFileThatIsNoDatabase) {
  Write("leaks.sqlite", std::string(5000, 'x'));
  EXPECT_THAT(ErrorOf(Database::Mode::kWrite), HasSubstr("not an SQLite file"));
  EXPECT_THAT(ErrorOf(Database::Mode::kRead), HasSubstr("not an SQLite file"));
  EXPECT_EQ(Read("leaks.sqlite"), std::string(5000, 'x'));
}

TEST_F(HistoryTest, RefusesSomebodyElsesDatabaseAndLeavesItAlone) {
  {
    const Expected<Database> other = Database::Open(file_, Database::Mode::kWrite);
    ASSERT_TRUE(other->Run("CREATE TABLE bookmarks(id INTEGER)"));
  }
  const std::string before = Read("leaks.sqlite");
  EXPECT_THAT(ErrorOf(Database::Mode::kWrite), HasSubstr("no history of leakgate's"));
  EXPECT_EQ(Read("leaks.sqlite"), before);
}

TEST_F(HistoryTest, RefusesAHistoryOfALaterLeakgate) {
  (void)Open();
  ASSERT_TRUE(Database::Open(file_, Database::Mode::kWrite)->Run("PRAGMA user_version = 9"));
  EXPECT_THAT(ErrorOf(Database::Mode::kWrite), HasSubstr("made by a later leakgate (version 9"));
}

TEST_F(HistoryTest, AHistoryThatIsReadMustBeThere) {
  EXPECT_THAT(ErrorOf(Database::Mode::kRead),
              HasSubstr("there is no such history; begin one: leakgate history add"));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

// The file may be somebody else's, and SQLite executes what a schema says.
TEST_F(HistoryTest, LetsNoFileChangeItsOwnSchema) {
  (void)Open();
  const Expected<Database> database = Database::Open(file_, Database::Mode::kWrite);
  EXPECT_FALSE(database->Run("PRAGMA writable_schema = ON; DELETE FROM sqlite_master"));
}

TEST_F(HistoryTest, ReadsNoViews) {
  (void)Open();
  ChangeAsAnotherUser(
      "DROP TABLE findings; CREATE VIEW findings AS SELECT 1 AS run, 'a' AS test, 'b' AS "
      "component, 'c' AS call_site, 'd' AS path, 1 AS bytes, 1 AS blocks");
  EXPECT_FALSE(Open().Findings(std::nullopt, std::nullopt));
}

TEST_F(HistoryTest, FiresNoTriggers) {
  (void)Open();
  ChangeAsAnotherUser("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  EXPECT_THAT(*Open().Findings(std::nullopt, std::nullopt), SizeIs(1));
}

TEST_F(HistoryTest, SurvivesAFileThatWasCutOff) {
  Add(RunOf("1", "over_budget", 1), "aaa", "2026-01-01T00:00:00Z");
  const std::string whole = Read("leaks.sqlite");
  for (std::size_t size = 1; size < whole.size(); size += 1 + whole.size() / 41) {
    Write("leaks.sqlite", whole.substr(0, size));
    const Expected<History> history = History::Open(file_, Database::Mode::kRead);
    if (history) (void)history->Findings(std::nullopt, std::nullopt);  // an error or not
  }
}

TEST_F(HistoryTest, TotalsAreOfTheProgramsAndRunsThatAreAskedFor) {
  HistoryRun other = RunOf("3", "over_budget", 9);
  other.binary = "build/disk_test";
  HistoryRun elsewhere = RunOf("2", "over_budget", 2);
  elsewhere.binary = "/ci/7/http_test";
  Add(RunOf("1", "pass", 0), "aaa", "2026-01-01T00:00:00Z");
  Add(elsewhere, "bbb", "2026-01-02T00:00:00Z");
  Add(other, "bbb", "2026-01-02T00:00:00Z");
  Add(RunOf("4", "over_budget", 5), "ccc", "2026-01-03T00:00:00Z");

  const auto moments =
      Open(Database::Mode::kRead).Totals({.programs = {"http_test"}, .without = {"4"}});
  ASSERT_TRUE(moments) << moments.error().message;
  ASSERT_THAT(*moments, SizeIs(2));
  EXPECT_EQ((*moments)[0].commit, "aaa");
  EXPECT_EQ((*moments)[0].over_budget, 0);
  EXPECT_EQ((*moments)[1].time, "2026-01-02T00:00:00Z");
  EXPECT_EQ((*moments)[1].tests, 1);
  EXPECT_EQ((*moments)[1].over_budget, 1);
  EXPECT_EQ((*moments)[1].outstanding, (Amount{128, 2}));
}

TEST_F(HistoryTest, TotalsCountTheWorstOfATestAtOneCommit) {
  Add(RunOf("1", "pass", 1), "aaa", "2026-01-01T00:00:00Z");
  Add(RunOf("2", "over_budget", 3), "aaa", "2026-01-01T01:00:00Z");
  const History history = Open(Database::Mode::kRead);
  for (int times = 0; times < 2; ++times) {
    const auto moments = history.Totals({.programs = {"http_test"}, .without = {}});
    ASSERT_TRUE(moments) << moments.error().message;
    ASSERT_THAT(*moments, SizeIs(1));
    EXPECT_EQ(moments->front().tests, 1);
    EXPECT_EQ(moments->front().over_budget, 1);
    EXPECT_EQ(moments->front().outstanding.blocks, 3);
  }
}

TEST_F(HistoryTest, TotalsKeepTheLatestMoments) {
  for (int i = 0; i < History::kMostMoments + 5; ++i) {
    Add(RunOf(std::to_string(i), "pass", 0), "", "2026-01-01T00:00:00Z" + std::to_string(1000 + i));
  }
  const auto moments =
      Open(Database::Mode::kRead).Totals({.programs = {"http_test"}, .without = {}});
  ASSERT_TRUE(moments) << moments.error().message;
  ASSERT_THAT(*moments, SizeIs(History::kMostMoments));
  EXPECT_EQ(moments->front().time, "2026-01-01T00:00:00Z1005");
}

}  // namespace
}  // namespace leakgate
