// Results over time, in one SQLite file: which finding was seen first where, what was
// outstanding at which commit, which tests are flaky.
//
// Plain values go in and out. Whoever adds a run says by its digest which one it
// is: one that is there is left alone. All of one Add is there, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/results/database.h"

namespace leakgate {

struct HistoryFinding {
  std::string test;
  std::string component;  // empty: nobody's
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

struct TrendPoint {
  std::string subject;  // a component, a test, a call site
  HistoryOccasion occasion;
  std::int64_t outstanding_bytes = 0;
  std::int64_t outstanding_blocks = 0;
  std::int64_t peak_bytes = 0;  // 0 of a call site
};

enum class TrendSubject { kComponent, kTest, kCallSite };

class History {
 public:
  // Errors: no such file, no history of leakgate's, one of a later leakgate.
  [[nodiscard]] static Expected<History> Open(const std::filesystem::path& path,
                                              Database::Mode mode);

  // Adds runs one by one, between these two; without Commit none is there.
  [[nodiscard]] Expected<void> Begin();
  // False: it was there.
  [[nodiscard]] Expected<bool> Add(const HistoryRun& run, const HistoryOccasion& occasion);
  [[nodiscard]] Expected<void> Commit();

  // Of all components or tests, where none is named. By component, test and path.
  [[nodiscard]] Expected<std::vector<SeenFinding>> Findings(
      const std::optional<std::string>& component, const std::optional<std::string>& test) const;
  [[nodiscard]] Expected<std::vector<FlakyTest>> FlakyTests(
      const std::optional<std::string>& component, const std::optional<std::string>& test) const;

  // By subject, then in the order of time. Where a test ran several times at one
  // commit, the most that it left.
  [[nodiscard]] Expected<std::vector<TrendPoint>> Trend(TrendSubject subject) const;

 private:
  explicit History(Database database) : database_(std::move(database)) {}

  Database database_;
};

}  // namespace leakgate
