// `leakgate budget init`: the first budget file of a component, from a run. Pure.
#pragma once

#include <chrono>
#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// The text of a budget file for the run's binary: an allowance for each call
// site that made a window fail, of the most that it left in any window.
[[nodiscard]] std::string InitialBudget(const std::string& component, const RunResult& result,
                                        std::chrono::year_month_day today);

}  // namespace leakgate
