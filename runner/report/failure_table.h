// Which tests cost most: time, and memory at their peak. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// "slowest: Db.Compaction 41.2 s, Db.Recovery 12.1 s (87 % of all tests' time)". Only
// of a suite that is too large to look through, and only the few tests that stand out:
// that take half the time, a second or more. Empty otherwise. No trailing newline.
[[nodiscard]] std::string SlowestThatStandOut(const RunResult& result);

// "heaviest: Db.Compaction 1.2 GiB at its peak". Likewise: by far more memory than the
// usual test of the suite, 16 MiB or more.
[[nodiscard]] std::string HeaviestThatStandOut(const RunResult& result);

// The same two lists, of any suite with a test, for who asks: up to ten tests.
[[nodiscard]] std::string Slowest(const RunResult& result);
[[nodiscard]] std::string Heaviest(const RunResult& result);

// The failing windows of a run, one line each: a test that fails in many
// iterations is one line with a count. Pure.

// One test, suite or program, over budget in `iterations` of its iterations.
struct RepeatedFailure {
  const WindowResult* first = nullptr;    // in the result
  const WindowResult* largest = nullptr;  // by outstanding bytes, the first of equals
  int iterations = 0;
};

// In the order of the run.
[[nodiscard]] std::vector<RepeatedFailure> CollectFailures(const RunResult& result);

// The table, aligned, a line each, by component, those of none first:
//   net      128 B in 2 blocks outstanding  budget 0 B  HttpTest.KeepAlive
[[nodiscard]] std::string FailureTable(std::vector<RepeatedFailure> failures);

// "", " #2", " in 5 iterations, the first #2".
[[nodiscard]] std::string IterationsText(const RepeatedFailure& failure);

}  // namespace leakgate
