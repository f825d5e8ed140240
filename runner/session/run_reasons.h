// Why a run cannot be trusted: each reason one line with what to do about it.
// A run with a reason never passes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/session/generations.h"

namespace leakgate {

// Why the agent did not start to trace, and what to do.
[[nodiscard]] std::string AgentFailureText(AgentFailure failure);

// What is said of a region that is not whole (RegionReader::IsWhole).
[[nodiscard]] std::string DamageText();

// From what the images left behind, how the program ended and what was dropped.
// REQUIRES: `result` has its program and tracing filled in.
[[nodiscard]] std::vector<std::string> ReasonsForDoubt(const Generations& generations,
                                                       const RunResult& result);

// That the program was killed for taking too long, and in which test.
[[nodiscard]] std::string TimeoutReason(const Generations& generations,
                                        std::chrono::milliseconds timeout);

}  // namespace leakgate
