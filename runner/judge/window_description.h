// A window as the region tells it: its name, its place, what it did to the heap.
#pragma once

#include <string>

#include "runner/judge/judge_surroundings.h"
#include "runner/region/region_reader.h"
#include "runner/report/run_result.h"

namespace leakgate {

// A test's result as the region tells it.
[[nodiscard]] TestStatus StatusOf(const WindowCopy& window);

// Without findings, budget and verdict. A window that is still open ends now;
// the program's name is `binary_name`.
[[nodiscard]] WindowResult Describe(const WindowCopy& window, const RegionReader& region,
                                    const TestSources& sources, const std::string& binary_name);

}  // namespace leakgate
