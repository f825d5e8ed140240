// The end of a run as a person reads it, and the lists in it: the tests that cost most time and
// memory, and the failing windows. Pure: the same values give the same text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/report/causes.h"
#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

enum class SummaryDetail {
  kQuiet,    // only what is not a pass; nothing if everything passed
  kNormal,   // also what is worth a line
  kVerbose,  // also what passed, with the evidence, and the costliest tests
};

// Returns the text of each cause of which GoogleTest has not told all, the largest first, then the
// summary, which is one line if everything passed. It ends with a newline. Unless it is verbose it
// has about 60 lines at most, and says what it leaves out.
[[nodiscard]] std::string SummaryText(const RunResult& result, const TextStyle& style,
                                      SummaryDetail detail = SummaryDetail::kNormal);

// As many lines of causes as a person reads through.
inline constexpr std::ptrdiff_t kMostCauseLines = 36;

// Returns the first of `texts` that have room in `most_lines`, the first in any case, and a line
// that counts the others. Each is called at most once; an empty one is only counted.
[[nodiscard]] std::string FirstTexts(const std::vector<std::function<std::string()>>& texts,
                                     std::ptrdiff_t most_lines, std::string_view where_all_are);

// Returns "slowest: Db.Compaction 41.2 s, Db.Recovery 12.1 s (87 % of all tests' time)". It is
// empty unless the suite is too large to look through, and a few tests stand out: they take half
// the time, a second or more. No trailing newline.
[[nodiscard]] std::string SlowestThatStandOut(const RunResult& result);

// Returns "heaviest: Db.Compaction 1.2 GiB at its peak", in the same way: a test stands out by
// far more memory than the usual test of the suite, 16 MiB or more.
[[nodiscard]] std::string HeaviestThatStandOut(const RunResult& result);

// Return the same two lists for any suite with a test: up to ten tests each.
[[nodiscard]] std::string Slowest(const RunResult& result);
[[nodiscard]] std::string Heaviest(const RunResult& result);

// One test, suite or program, over budget in `iterations` of its iterations.
struct RepeatedFailure {
  const WindowResult* first = nullptr;    // in the result
  const WindowResult* largest = nullptr;  // by outstanding bytes, the first of equals
  int iterations = 0;
};

// Collects the failing windows in the order of the run. A test that fails in many iterations is one
// failure with a count.
[[nodiscard]] std::vector<RepeatedFailure> CollectFailures(const RunResult& result);

// Returns an aligned table, a line each, sorted by component; those without one come first:
//   net      128 B in 2 blocks outstanding  budget 0 B  HttpTest.KeepAlive
[[nodiscard]] std::string FailureTable(std::vector<RepeatedFailure> failures);

// Returns the same by causes, in their order, and how many more there are of `count`:
//   net      5.2 KiB in 80 blocks lost  budget 0 B  40 tests  net::Pool::Grow (src/pool.cc:88)
[[nodiscard]] std::string CauseTable(const std::vector<Cause>& causes,
                                     const std::string& base_directory, std::size_t count,
                                     std::string_view where_all_are);

// Returns "", " #2", " in 5 iterations, the first #2".
[[nodiscard]] std::string IterationsText(const RepeatedFailure& failure);

}  // namespace leakgate
