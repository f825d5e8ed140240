// A run as a history keeps it.
#pragma once

#include <string>

#include "runner/history/history.h"
#include "runner/report/run_result.h"

namespace leakgate {

// `digest`: which run it is.
[[nodiscard]] HistoryRun ToHistoryRun(const RunResult& run, const std::string& digest);

}  // namespace leakgate
