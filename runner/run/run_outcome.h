// Why a run cannot be trusted, and what its user should tidy up: each reason and each warning is
// one line that says what to do. A run with a reason never passes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/run/gtest_output.h"
#include "runner/run/judged_process.h"

namespace leakgate {

// From what the images left behind, how the program ended and what was dropped.
// REQUIRES: `result` has its program and tracing filled in.
[[nodiscard]] std::vector<std::string> ReasonsForDoubt(const Generations& generations,
                                                       const RunResult& result);

// That the program was killed for taking too long, and in which test.
[[nodiscard]] std::string TimeoutReason(const Generations& generations,
                                        std::chrono::milliseconds timeout);

// Allowances that covered nothing: out of date, mostly.
// A line for each allowance of `budgets` that no finding was allowed by.
[[nodiscard]] std::vector<std::string> UnusedAllowances(const BudgetSet& budgets,
                                                        const std::vector<WindowResult>& windows);

// Adds a warning for each test that was to leave memory and left none
// (leakgate::ExpectOutstanding).
void AddUnmetExpectations(const Generations& generations, RunResult& result);

// Whether neither `arguments` nor the environment choose among the tests: what is
// unused in a part of them may be used in another.
[[nodiscard]] bool RunsAllTests(const std::vector<std::string>& arguments);

// From what was measured to the result of a run: statuses, the overall verdict
// and the exit code. Pure.

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
