// What a history's trend compares: of two commits, only what both ran. A shard that failed to
// arrive, or a test that is new, changes the totals, and is no change of the code.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/results/history.h"

namespace leakgate {
namespace {

// Runs of one commit belong together. If the commit is not known, the time takes its place.
constexpr std::string_view kMoments =
    "WITH moments AS (SELECT id, binary, commit_id, time, "
    "CASE WHEN commit_id = '' THEN 'at ' || time ELSE 'of ' || commit_id END AS moment "
    "FROM runs) ";

// A row for each test of a subject at a moment: the most that it left. A call site has several
// paths in one test, which add up.
std::string PartsSql(TrendSubject subject) {
  constexpr std::string_view kTests = R"(, parts AS (
    SELECT {} AS subject, m.moment, m.commit_id, min(m.time) AS time, m.binary, t.name AS test,
           max(t.outstanding_bytes) AS bytes, max(t.outstanding_blocks) AS blocks,
           max(t.peak_bytes) AS peak
    FROM tests t JOIN moments m ON m.id = t.run GROUP BY subject, m.moment, m.binary, t.name))";
  constexpr std::string_view kCallSites = R"(, parts AS (
    SELECT call_site AS subject, moment, commit_id, min(time) AS time, binary, test,
           sum(bytes) AS bytes, sum(blocks) AS blocks, 0 AS peak
    FROM (SELECT f.call_site, m.moment, m.commit_id, min(m.time) AS time, m.binary, f.test, f.path,
                 max(f.bytes) AS bytes, max(f.blocks) AS blocks
          FROM findings f JOIN moments m ON m.id = f.run
          GROUP BY f.call_site, m.moment, m.binary, f.test, f.path)
    GROUP BY call_site, moment, binary, test))";
  std::string sql(kMoments);
  if (subject == TrendSubject::kCallSite) {
    sql += kCallSites;
  } else {
    sql += fmt::format(kTests, subject == TrendSubject::kTest ? "t.name" : "t.component");
  }
  return sql + R"(
    SELECT subject, moment, commit_id, time, binary, test, bytes, blocks, peak
    FROM (SELECT *, min(time) OVER (PARTITION BY subject, moment) AS began FROM parts)
    ORDER BY subject, began, moment, binary, test)";
}

// A test is known by its binary and its name.
using TestKey = std::pair<std::string, std::string>;

// All that was run at one moment.
struct TestsRun {
  std::set<TestKey> tests;
  std::set<std::string> binaries;
};

struct TestPart {
  TestKey test;
  Amount amount;
  std::int64_t peak_bytes = 0;
};

// One subject at one moment.
struct TrendPart {
  std::string subject;
  std::string moment;
  HistoryOccasion occasion;
  std::vector<TestPart> tests;
};

std::string_view NameOfBinary(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// Returns, for the binaries of `from`, their paths in `to`. Each commit may be built in a folder of
// its own: a binary whose path is gone is the one of the same name, if there is just one on either
// side.
std::map<std::string, std::string> SameBinaries(const std::set<std::string>& from,
                                                const std::set<std::string>& to) {
  std::map<std::string, std::string> same;
  std::map<std::string_view, std::pair<std::vector<std::string>, std::vector<std::string>>> moved;
  for (const std::string& path : from) {
    if (to.contains(path)) {
      same[path] = path;
    } else {
      moved[NameOfBinary(path)].first.push_back(path);
    }
  }
  for (const std::string& path : to) {
    if (!from.contains(path)) moved[NameOfBinary(path)].second.push_back(path);
  }
  for (const auto& [name, paths] : moved) {
    if (paths.first.size() == 1 && paths.second.size() == 1) {
      same[paths.first.front()] = paths.second.front();
    }
  }
  return same;
}

// What the tests that `other` ran, too, left: the sum, or of one test's binaries the most. The
// other tests are counted.
struct Compared {
  Amount amount;
  std::int64_t left_out = 0;
};

Compared CompareWith(const TrendPart& part, const TestsRun& own, const TestsRun& other,
                     TrendSubject subject) {
  const std::map<std::string, std::string> same = SameBinaries(own.binaries, other.binaries);
  Compared compared;
  for (const TestPart& test : part.tests) {
    const auto binary = same.find(test.test.first);
    if (binary == same.end() || !other.tests.contains({binary->second, test.test.second})) {
      ++compared.left_out;
    } else if (subject == TrendSubject::kTest) {
      compared.amount.bytes = std::max(compared.amount.bytes, test.amount.bytes);
      compared.amount.blocks = std::max(compared.amount.blocks, test.amount.blocks);
    } else {
      compared.amount += test.amount;
    }
  }
  return compared;
}

TrendPoint PointOf(const TrendPart& part, TrendSubject subject) {
  TrendPoint point{part.subject, part.occasion, 0, 0, 0, {}};
  for (const TestPart& test : part.tests) {
    const bool is_most = subject == TrendSubject::kTest;
    point.outstanding_bytes = is_most ? std::max(point.outstanding_bytes, test.amount.bytes)
                                      : point.outstanding_bytes + test.amount.bytes;
    point.outstanding_blocks = is_most ? std::max(point.outstanding_blocks, test.amount.blocks)
                                       : point.outstanding_blocks + test.amount.blocks;
    point.peak_bytes = std::max(point.peak_bytes, test.peak_bytes);
  }
  return point;
}

class TrendMaker {
 public:
  TrendMaker(TrendSubject subject, std::map<std::string, TestsRun> run)
      : subject_(subject), run_(std::move(run)) {}

  void Add(const TrendPart& row) {
    if (now_.subject != row.subject || now_.moment != row.moment) EndPart();
    if (now_.tests.empty()) {
      now_ = row;
      return;
    }
    now_.occasion.time = std::min(now_.occasion.time, row.occasion.time);
    now_.tests.push_back(row.tests.front());
  }
  std::vector<TrendPoint> Take() {
    EndPart();
    return std::move(points_);
  }

 private:
  void EndPart() {
    if (now_.tests.empty()) return;
    points_.push_back(PointOf(now_, subject_));
    if (!before_.tests.empty() && before_.subject == now_.subject) {
      points_.back().change = Change();
    }
    before_ = std::exchange(now_, {});
  }

  TrendChange Change() {
    const TestsRun& then = run_[before_.moment];
    const TestsRun& now = run_[now_.moment];
    const Compared old_part = CompareWith(before_, then, now, subject_);
    const Compared new_part = CompareWith(now_, now, then, subject_);
    const auto compared = static_cast<std::int64_t>(before_.tests.size() + now_.tests.size()) -
                          old_part.left_out - new_part.left_out;
    const Amount growth = new_part.amount - old_part.amount;
    return {compared != 0, growth.bytes, growth.blocks, old_part.left_out, new_part.left_out};
  }

  const TrendSubject subject_;
  std::map<std::string, TestsRun> run_;  // by moment
  TrendPart before_;
  TrendPart now_;
  std::vector<TrendPoint> points_;
};

Expected<std::map<std::string, TestsRun>> TestsByMoment(const Database& database) {
  Statement statement = database.Prepare(
      std::string(kMoments) +
      "SELECT DISTINCT m.moment, m.binary, t.name FROM tests t JOIN moments m ON m.id = t.run");
  std::map<std::string, TestsRun> run;
  while (statement.Step()) {
    TestsRun& at = run[statement.Text(0)];
    at.binaries.insert(statement.Text(1));
    at.tests.emplace(statement.Text(1), statement.Text(2));
  }
  if (statement.failed()) return database.Failure();
  return run;
}

}  // namespace

Expected<std::vector<TrendPoint>> History::Trend(TrendSubject subject) const {
  LEAKGATE_TRY_ASSIGN(auto run, TestsByMoment(database_));
  TrendMaker trend(subject, std::move(run));
  Statement row = database_.Prepare(PartsSql(subject));
  while (row.Step()) {
    const TestPart test{{row.Text(4), row.Text(5)}, {row.Number(6), row.Number(7)}, row.Number(8)};
    trend.Add({row.Text(0), row.Text(1), {row.Text(2), row.Text(3)}, {test}});
  }
  if (row.failed()) return database_.Failure();
  return trend.Take();
}

}  // namespace leakgate
