// Reads a baseline for `leakgate run`: what counted in an earlier report, and what was known in it
// already.
//
// A large report is read as a whole once; what a run needs of it is then kept in an index
// (baseline_index.h) in the user's cache. Under CTest each test is a process of its own, which
// would spend far more on the report than on the test. Whatever is wrong with the index, the report
// is read again: the user never hears of it.
#pragma once

#include <filesystem>
#include <functional>

#include "runner/base/expected.h"
#include "runner/judge/baseline.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Reads a report of one run or many. If `on_run` is set, each run is passed to it, and no index is
// used. Errors are those of ReadResults.
[[nodiscard]] Expected<Baseline> ReadBaseline(const std::filesystem::path& report,
                                              const std::function<void(RunResult&&)>& on_run = {});

}  // namespace leakgate
