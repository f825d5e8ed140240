// The failing windows of a run, one line each: a test that fails in many
// iterations is one line with a count. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/report/style.h"

namespace leakgate {

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
