// From what was measured to the result of a run: statuses, the overall verdict
// and the exit code. Pure.
#pragma once

#include "runner/region/region_reader.h"
#include "runner/report/run_result.h"
#include "runner/run/gtest_output.h"

namespace leakgate {

// Adds one traced image's counts; drops make the run inconclusive later.
void AddTracing(const RegionReader& region, TracingResult& tracing);

// Puts GoogleTest's own statuses in place of kNotPassed, for the last iteration:
// its output tells no other.
void RefineStatuses(const TestStatuses& statuses, std::vector<WindowResult>& windows);

// A window that was open when the process died was not measured to its end: what
// a dying process leaves is no leak, and no pass either.
void NoteUnended(const ProgramExit& program, std::vector<WindowResult>& windows);

// A run that could not be measured must not pass: turns each pass of `windows`
// into inconclusive.
void WithdrawPasses(const std::string& reason, std::vector<WindowResult>& windows);

// The overall verdict, from windows and reasons.
[[nodiscard]] Verdict OverallVerdict(const RunResult& result);

// Of a GoogleTest binary's run: no test ran, or each that did was skipped.
[[nodiscard]] bool RanNoTestToItsEnd(const RunResult& result);

// The runner's exit code: the program's own, unless it is 0.
[[nodiscard]] int FinalExitCode(const RunResult& result);

}  // namespace leakgate
