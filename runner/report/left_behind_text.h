// What windows left behind, call site by call site: what passed, with the evidence, and what tests,
// suites and the program mapped themselves and did not unmap. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// "    64 B in 1 block by net::Pool::Grow (src/pool.cc:88): one-time, repeated: +0 +0
// (A.B, C.D)": a line for each call site and fate, in the order of the run. Empty if
// there is none.
[[nodiscard]] std::string PassedFindingsText(const std::vector<WindowResult>& windows,
                                             const TextStyle& style);

// Of a window that fails: each call site with its stack where a limit on `mapped` is
// exceeded, else one line. Empty where nothing is mapped.
[[nodiscard]] std::string MappedText(const WindowResult& window, const TextStyle& style);

// "    64.0 KiB in 1 mapping by net::Pool::Grow (src/pool.cc:88): mapped (A.B)": a line
// for each call site, in the order of the run. Empty if there is none.
[[nodiscard]] std::string MappedSitesText(const std::vector<WindowResult>& windows,
                                          const TextStyle& style);

}  // namespace leakgate
