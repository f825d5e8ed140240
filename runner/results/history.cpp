#include "runner/results/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

// SQLite's own fields of the file tell whose it is and which tables it has.
constexpr std::int64_t kApplicationId = 0x6c6b6761;  // "lkga"
constexpr std::int64_t kVersion = 1;

constexpr const char* kSchema = R"(
  PRAGMA application_id = 0x6c6b6761;
  PRAGMA user_version = 1;
  CREATE TABLE runs(
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    binary TEXT NOT NULL,
    verdict TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    time TEXT NOT NULL);
  CREATE TABLE tests(
    run INTEGER NOT NULL REFERENCES runs(id),
    name TEXT NOT NULL,
    component TEXT NOT NULL,
    verdict TEXT NOT NULL,
    outstanding_bytes INTEGER NOT NULL,
    outstanding_blocks INTEGER NOT NULL,
    peak_bytes INTEGER NOT NULL);
  CREATE TABLE findings(
    run INTEGER NOT NULL REFERENCES runs(id),
    test TEXT NOT NULL,
    component TEXT NOT NULL,
    call_site TEXT NOT NULL,
    path TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    blocks INTEGER NOT NULL);
  CREATE INDEX tests_by_name ON tests(name, run);
  CREATE INDEX findings_by_path ON findings(test, path, run);
)";

Expected<std::int64_t> Pragma(const Database& database, std::string_view sql) {
  Statement statement = database.Prepare(sql);
  if (!statement.Step()) return database.Failure();
  return statement.Number(0);
}

Expected<void> RequireVersion(const Database& database, std::int64_t application,
                              std::int64_t version) {
  if (application != kApplicationId) {
    return UsageError(fmt::format("{}: an SQLite file, but no history of leakgate's; name another",
                                  PathText(database.path())));
  }
  if (version > kVersion) {
    return UsageError(
        fmt::format("{}: made by a later leakgate (version {}, this one knows {}); use that one",
                    PathText(database.path()), version, kVersion));
  }
  return {};
}

// An empty file becomes a history, unless it is to be read only.
Expected<void> Prepare(const Database& database, Database::Mode mode) {
  const bool is_write = mode == Database::Mode::kWrite;
  if (is_write) {
    // If two jobs begin a history, one waits here for the other.
    const Expected<void> begun = database.Run("BEGIN IMMEDIATE");
    if (!begun) return begun;
  }
  LEAKGATE_TRY_ASSIGN(const auto application, Pragma(database, "PRAGMA application_id"));
  LEAKGATE_TRY_ASSIGN(const auto version, Pragma(database, "PRAGMA user_version"));
  LEAKGATE_TRY_ASSIGN(const auto tables, Pragma(database, "SELECT count(*) FROM sqlite_master"));
  const bool is_new = is_write && application == 0 && version == 0 && tables == 0;
  if (is_new) {
    const Expected<void> made = database.Run(kSchema);
    if (!made) return made;
  } else if (const auto known = RequireVersion(database, application, version); !known) {
    return known;
  }
  return is_write ? database.Run("COMMIT") : Expected<void>();
}

template <typename Row>
using Rows = Expected<std::vector<Row>>;

template <typename Row, typename MakeRow>
Rows<Row> Collect(const Database& database, Statement& statement, const MakeRow& make_row) {
  std::vector<Row> rows;
  while (statement.Step()) rows.push_back(make_row(statement));
  if (statement.failed()) return database.Failure();
  return rows;
}

// Of a test that ran several times at one commit, the worst counts.
constexpr std::string_view kTotals = R"(
  WITH moments AS (
    SELECT id, binary, commit_id, time,
           CASE WHEN commit_id = '' THEN time ELSE commit_id END AS moment
    FROM runs WHERE id IN (SELECT id FROM temp.chosen))
  SELECT commit_id, min(time) AS time, count(*), sum(is_over), sum(bytes), sum(blocks)
  FROM (SELECT m.moment, m.commit_id, min(m.time) AS time,
               max(t.verdict = 'over_budget') AS is_over,
               max(t.outstanding_bytes) AS bytes, max(t.outstanding_blocks) AS blocks
        FROM tests t JOIN moments m ON m.id = t.run
        GROUP BY m.moment, m.binary, t.name)
  GROUP BY moment ORDER BY min(time) DESC, moment DESC LIMIT ?)";

}  // namespace

std::string DigestOf(const RunContent& content) {
  return fmt::format("{:016x}{:016x}", content.high, content.low);
}

Expected<History> History::Open(const std::filesystem::path& path, Database::Mode mode) {
  LEAKGATE_TRY_ASSIGN(Database database, Database::Open(path, mode));
  LEAKGATE_TRY(Prepare(database, mode));
  return History(std::move(database));
}

Expected<void> History::Begin() { return database_.Run("BEGIN IMMEDIATE"); }
Expected<void> History::Commit() { return database_.Run("COMMIT"); }

Expected<bool> History::Add(const HistoryRun& run, const HistoryOccasion& occasion) {
  Statement add_run = database_.Prepare(
      "INSERT INTO runs(digest, binary, verdict, commit_id, time) VALUES(?, ?, ?, ?, ?) "
      "ON CONFLICT(digest) DO NOTHING RETURNING id");
  add_run.Bind(run.digest).Bind(run.binary).Bind(run.verdict);
  add_run.Bind(occasion.commit).Bind(occasion.time);
  if (!add_run.Step()) {
    if (add_run.failed()) return database_.Failure();
    return false;
  }
  const std::int64_t id = add_run.Number(0);
  add_run.Reset();
  Statement add_test = database_.Prepare("INSERT INTO tests VALUES(?, ?, ?, ?, ?, ?, ?)");
  for (const HistoryTest& test : run.tests) {
    add_test.Reset().Bind(id).Bind(test.name).Bind(test.component).Bind(test.verdict);
    add_test.Bind(test.outstanding_bytes).Bind(test.outstanding_blocks).Bind(test.peak_bytes);
    add_test.Step();
  }
  Statement add_finding = database_.Prepare("INSERT INTO findings VALUES(?, ?, ?, ?, ?, ?, ?)");
  for (const HistoryFinding& finding : run.findings) {
    add_finding.Reset().Bind(id).Bind(finding.test).Bind(finding.component);
    add_finding.Bind(finding.call_site).Bind(finding.path);
    add_finding.Bind(finding.bytes).Bind(finding.blocks);
    add_finding.Step();
  }
  if (add_test.failed() || add_finding.failed()) return database_.Failure();
  return true;
}

Expected<std::vector<SeenFinding>> History::Findings(const std::optional<std::string>& component,
                                                     const std::optional<std::string>& test) const {
  // SQLite takes the other columns from the row that has the max().
  Statement statement = database_.Prepare(R"(
    WITH seen AS (
      SELECT f.*, r.commit_id, r.time, r.id AS run_id FROM findings f JOIN runs r ON r.id = f.run
      WHERE (?1 IS NULL OR f.component = ?1) AND (?2 IS NULL OR f.test = ?2)),
    first AS (SELECT test, path, commit_id, min(time) AS time FROM seen GROUP BY test, path),
    last AS (
      SELECT test, path, component, call_site, bytes, blocks, commit_id, max(time) AS time,
             count(DISTINCT run_id) AS runs
      FROM seen GROUP BY test, path)
    SELECT last.test, last.component, last.call_site, last.path, last.bytes, last.blocks,
           first.commit_id, first.time, last.commit_id, last.time, last.runs
    FROM last JOIN first ON first.test = last.test AND first.path = last.path
    ORDER BY last.component, last.test, last.call_site, last.path)");
  statement.BindOptional(component).BindOptional(test);
  return Collect<SeenFinding>(database_, statement, [](const Statement& row) {
    return SeenFinding{
        {row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Number(4), row.Number(5)},
        {row.Text(6), row.Text(7)},
        {row.Text(8), row.Text(9)},
        row.Number(10)};
  });
}

Expected<std::vector<FlakyTest>> History::FlakyTests(const std::optional<std::string>& component,
                                                     const std::optional<std::string>& test) const {
  // A test is flaky only if both verdicts are of one commit: else the code was fixed or broken.
  Statement statement = database_.Prepare(R"(
    SELECT binary, name, component, sum(passed), sum(failed), commit_id, max(time)
    FROM (SELECT r.binary, t.name, t.component, r.commit_id, max(r.time) AS time,
                 sum(t.verdict = 'pass') AS passed, sum(t.verdict = 'over_budget') AS failed
          FROM tests t JOIN runs r ON r.id = t.run
          WHERE (?1 IS NULL OR t.component = ?1) AND (?2 IS NULL OR t.name = ?2)
          GROUP BY r.binary, t.name, r.commit_id HAVING passed > 0 AND failed > 0)
    GROUP BY binary, name ORDER BY binary, name)");
  statement.BindOptional(component).BindOptional(test);
  return Collect<FlakyTest>(database_, statement, [](const Statement& row) {
    return FlakyTest{row.Text(0),   row.Text(1),   row.Text(2),
                     row.Number(3), row.Number(4), {row.Text(5), row.Text(6)}};
  });
}

// A temporary table is SQLite's own, also where the history is opened to be read only.
Expected<void> History::Choose(const HistoryScope& scope) const {
  const Expected<void> made = database_.Run(
      "PRAGMA temp_store = MEMORY; DROP TABLE IF EXISTS temp.chosen;"
      "CREATE TEMP TABLE chosen(id INTEGER PRIMARY KEY)");
  if (!made) return made;
  Statement runs = database_.Prepare("SELECT id, digest, binary FROM runs");
  Statement choose = database_.Prepare("INSERT INTO temp.chosen VALUES(?)");
  while (runs.Step()) {
    const std::string program = FileNameIn(runs.Text(2));
    if (!scope.programs.contains(program) || scope.without.contains(runs.Text(1))) continue;
    choose.Reset().Bind(runs.Number(0)).Step();
  }
  if (runs.failed() || choose.failed()) return database_.Failure();
  return {};
}

Expected<std::vector<EarlierMoment>> History::Totals(const HistoryScope& scope) const {
  LEAKGATE_TRY(Choose(scope));
  Statement statement = database_.Prepare(kTotals);
  statement.Bind(kMostMoments);
  auto moments = Collect<EarlierMoment>(database_, statement, [](const Statement& row) {
    return EarlierMoment{
        row.Text(0), row.Text(1), row.Number(2), row.Number(3), {row.Number(4), row.Number(5)}};
  });
  if (moments) std::reverse(moments->begin(), moments->end());
  return moments;
}

}  // namespace leakgate
