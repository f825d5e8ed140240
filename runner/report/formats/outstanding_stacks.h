// What the profiles are made of: the outstanding blocks with their stacks. Pure.
#pragma once

#include <functional>
#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// Each finding of `run` but the framework's own, with its window.
void VisitOutstanding(
    const RunResult& run,
    const std::function<void(const WindowResult& window, const Finding& finding)>& visit);

// The frame that stands for the test, outside of all others. Printable.
[[nodiscard]] std::string RootName(const WindowResult& window);

// FrameName, printable.
[[nodiscard]] std::string ProfileFrameName(const Frame& frame);

}  // namespace leakgate
