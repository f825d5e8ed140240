// What a run says, as a number that tells it from others: a run that is given twice counts
// once, however its report is written.
#pragma once

#include <cstdint>

#include "runner/report/run_result.h"

namespace leakgate {

struct RunContent {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend auto operator<=>(const RunContent&, const RunContent&) = default;
};

// A hash of all that the run's report tells, so that neither the order of keys nor white space
// changes it.
[[nodiscard]] RunContent ContentOf(const RunResult& run);

}  // namespace leakgate
