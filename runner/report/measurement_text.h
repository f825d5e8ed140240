// What a measuring window of the program's code has outstanding, as text for the program
// itself, and for reports. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/result/run_result.h"

namespace leakgate {

// The call sites, in the order of `findings`: as many as fit with their stacks in half of
// `room`, then a line each; how many more there are; what does not count. In `room` bytes.
[[nodiscard]] std::string MeasurementText(const std::vector<Finding>& findings,
                                          const TextStyle& style, std::size_t room);
// The same without colour, with paths as the current directory has them.
[[nodiscard]] std::string MeasurementTextHere(const std::vector<Finding>& findings,
                                              std::size_t room);

// "measured: 64 B in 1 block outstanding at the end of 'load config' (src/config_test.cc:12)",
// without colour. Not made printable.
[[nodiscard]] std::string MeasuringWindowLine(const MeasuringWindowResult& window);

// What a run left behind as lines that CTest takes from a test's standard output
// into its Test.xml, from which CDash draws it over time.

// The sums over all tests; of a program without any, what the program left.
[[nodiscard]] std::string CTestMeasurementsText(const RunResult& result);

}  // namespace leakgate
