// What tests left behind and passed with, one by one, with the evidence. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/report/style.h"

namespace leakgate {

// "    64 B in 1 block by net::Pool::Grow (src/pool.cc:88): one-time, repeated: +0 +0
// (A.B, C.D)": a line for each call site and fate, in the order of the run. Empty if
// there is none.
[[nodiscard]] std::string PassedFindingsText(const std::vector<WindowResult>& windows,
                                             const TextStyle& style);

}  // namespace leakgate
