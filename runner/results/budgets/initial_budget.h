// The first budget file of a component, which `leakgate budget init` writes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

struct InitialBudget {
  std::string text;
  // What fails under it all the same, as no entry can allow it, a line each.
  std::vector<std::string> still_failing;
};

// Makes a budget file for the run's binary, under which the same run is green. Each call site that
// made a window fail gets an allowance of the most that its entry has to cover in any window that
// failed, which is found out by judging the run's findings by the file. Pure.
[[nodiscard]] InitialBudget MakeInitialBudget(const std::string& component, const RunResult& result,
                                              std::chrono::year_month_day today);

}  // namespace leakgate
