// What windows left behind, call site by call site: what passed, with the evidence; what tests,
// suites and the program mapped themselves and did not unmap; and what measuring windows of the
// program's code have outstanding. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Counts what tests left behind and passed with: "3 one-time initialisations, 1 bounded
// cache". It is empty if there is none.
[[nodiscard]] std::string PassedFates(const std::vector<WindowResult>& windows);

// Returns a line for each call site and fate, in the order of the run; empty if there is none:
// "    64 B in 1 block by net::Pool::Grow (src/pool.cc:88): one-time, repeated: +0 +0 (A.B, C.D)".
[[nodiscard]] std::string PassedFindingsText(const std::vector<WindowResult>& windows,
                                             const TextStyle& style);

// Returns what a failing window has mapped: each call site with its stack if a limit on `mapped`
// is exceeded, else one line. It is empty if nothing is mapped.
[[nodiscard]] std::string MappedText(const WindowResult& window, const TextStyle& style);

// Returns a line for each call site, in the order of the run; empty if there is none:
// "    64.0 KiB in 1 mapping by net::Pool::Grow (src/pool.cc:88): mapped (A.B)".
[[nodiscard]] std::string MappedSitesText(const std::vector<WindowResult>& windows,
                                          const TextStyle& style);

// Returns what a measuring window has outstanding, for the program itself, in at most `room` bytes.
// Call sites come in the order of `findings`: those that fit into half of `room` with their stacks,
// the next with a line each, then how many more there are, and what does not count.
[[nodiscard]] std::string MeasurementText(const std::vector<Finding>& findings,
                                          const TextStyle& style, std::size_t room);
// Returns the same without colour, with paths relative to the current directory.
[[nodiscard]] std::string MeasurementTextHere(const std::vector<Finding>& findings,
                                              std::size_t room);

// Returns "measured: 64 B in 1 block outstanding at the end of 'load config'
// (src/config_test.cc:12)", without colour. It is not made printable.
[[nodiscard]] std::string MeasuringWindowLine(const MeasuringWindowResult& window);

// Returns what all tests left behind together, or the program if it has no tests, as lines that
// CTest takes from a test's standard output into its Test.xml, from which CDash draws it over time.
[[nodiscard]] std::string CTestMeasurementsText(const RunResult& result);

}  // namespace leakgate
