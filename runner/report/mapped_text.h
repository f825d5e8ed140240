// What tests, suites and the program mapped themselves and did not unmap, in words. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/report/style.h"

namespace leakgate {

// Of a window that fails: each call site with its stack where a limit on `mapped` is
// exceeded, else one line. Empty where nothing is mapped.
[[nodiscard]] std::string MappedText(const WindowResult& window, const TextStyle& style);

// "    64.0 KiB in 1 mapping by net::Pool::Grow (src/pool.cc:88): mapped (A.B)": a line
// for each call site, in the order of the run. Empty if there is none.
[[nodiscard]] std::string MappedSitesText(const std::vector<WindowResult>& windows,
                                          const TextStyle& style);

}  // namespace leakgate
