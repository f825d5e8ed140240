// What a run left behind as lines that CTest takes from a test's standard output
// into its Test.xml, from which CDash draws it over time.
#pragma once

#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// The sums over all tests; of a program without any, what the program left.
[[nodiscard]] std::string CTestMeasurementsText(const RunResult& result);

}  // namespace leakgate
