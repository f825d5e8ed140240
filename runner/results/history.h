// Results over time, in one SQLite file: it tells where each finding was first seen, what was
// outstanding at which commit, and which tests are flaky.
//
// A digest identifies a run, and a run that is there already is not added again.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/report/report_format.h"
#include "runner/result/run_result.h"
#include "runner/results/database.h"
#include "runner/results/result_file.h"

namespace leakgate {

struct HistoryFinding {
  std::string test;
  std::string component;  // empty if nobody owns the code
  std::string call_site;  // in words, without its line
  std::string path;       // its SymbolicPath (leak_identity.h)
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct HistoryTest {
  std::string name;
  std::string component;
  std::string verdict;
  std::int64_t outstanding_bytes = 0;
  std::int64_t outstanding_blocks = 0;
  std::int64_t peak_bytes = 0;
};

struct HistoryRun {
  std::string digest;
  std::string binary;
  std::string verdict;
  std::vector<HistoryTest> tests;        // each iteration
  std::vector<HistoryFinding> findings;  // that count
};

// Returns `run` as a history keeps it; `digest` identifies it (history_run.cpp).
[[nodiscard]] HistoryRun ToHistoryRun(const RunResult& run, const std::string& digest);

// Where and when runs were made.
struct HistoryOccasion {
  std::string commit;
  std::string time;  // ISO 8601, UTC
};

struct SeenFinding {
  HistoryFinding finding;  // as large as it was last
  HistoryOccasion first;
  HistoryOccasion last;
  std::int64_t runs = 0;
};

struct FlakyTest {
  std::string binary;
  std::string test;
  std::string component;
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  HistoryOccasion last_failed;
};

// The change since the point before of the same subject, in the tests that both commits ran.
struct TrendChange {
  bool is_comparable = false;  // false: they have no test in common
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  // The tests of either point that the other commit did not run. They are in its total.
  std::int64_t only_before = 0;
  std::int64_t only_now = 0;

  friend bool operator==(const TrendChange&, const TrendChange&) = default;
};

struct TrendPoint {
  std::string subject;  // a component, a test, a call site
  HistoryOccasion occasion;
  std::int64_t outstanding_bytes = 0;
  std::int64_t outstanding_blocks = 0;
  std::int64_t peak_bytes = 0;        // 0 for a call site
  std::optional<TrendChange> change;  // nullopt: the first of its subject
};

// Which runs of a history a report is compared with.
struct HistoryScope {
  std::set<std::string> programs;  // the file names of the binaries that the report tells of
  std::set<std::string> without;   // digests: the report's own runs may be in the history already
};

enum class TrendSubject { kComponent, kTest, kCallSite };

// Returns what identifies a run in a history.
[[nodiscard]] std::string DigestOf(const RunContent& content);

class History {
 public:
  // Returns an error if there is no such file, or if it is no history of leakgate's, or one of a
  // later leakgate.
  [[nodiscard]] static Expected<History> Open(const std::filesystem::path& path,
                                              Database::Mode mode);

  // Runs are added between Begin and Commit. Without Commit none of them is kept.
  [[nodiscard]] Expected<void> Begin();
  // Returns false if the run was there already.
  [[nodiscard]] Expected<bool> Add(const HistoryRun& run, const HistoryOccasion& occasion);
  [[nodiscard]] Expected<void> Commit();

  // Both cover all components or tests if none is named. They are sorted by component, test and
  // path.
  [[nodiscard]] Expected<std::vector<SeenFinding>> Findings(
      const std::optional<std::string>& component, const std::optional<std::string>& test) const;
  [[nodiscard]] Expected<std::vector<FlakyTest>> FlakyTests(
      const std::optional<std::string>& component, const std::optional<std::string>& test) const;

  // Returns the points by subject, then in the order of time. If a test ran several times at one
  // commit, its point has the most that it left.
  [[nodiscard]] Expected<std::vector<TrendPoint>> Trend(TrendSubject subject) const;

  // Returns what all tests of the runs in `scope` left together, at each of the latest moments, in
  // the order of time. Of a test that ran several times at one commit, the worst counts.
  [[nodiscard]] Expected<std::vector<EarlierMoment>> Totals(const HistoryScope& scope) const;
  static constexpr std::int64_t kMostMoments = 200;

 private:
  [[nodiscard]] Expected<void> Choose(const HistoryScope& scope) const;
  explicit History(Database database) : database_(std::move(database)) {}

  Database database_;
};

}  // namespace leakgate
