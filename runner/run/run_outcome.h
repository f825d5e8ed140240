// From what was measured to the result of a run: reasons for doubt, warnings, statuses, the overall
// verdict and the exit code.
//
// Each reason and each warning is one line that says what to do. A run with a reason never passes.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/run/gtest_output.h"
#include "runner/run/judged_process.h"
#include "runner/run/preparation.h"

namespace leakgate {

// Returns a line if GoogleTest ran no test, though it was asked to run some: a filter may name
// tests that are there no more. Of a shard that has none, nothing is said. REQUIRES: it has run.
[[nodiscard]] std::string DoubtWithoutTests(const RunResult& result,
                                            const std::vector<std::string>& environment);

// Returns a line if the program under test has leakgate's listener and did not add it, so that its
// tests were not told apart; empty if all is well, or it was asked to run none.
[[nodiscard]] std::string DoubtAboutListener(const Preparation& prepared, const RunResult& result);

// Returns why the run cannot be trusted, from what the images left behind, how the program ended
// and what was dropped. REQUIRES: `program` and `tracing` of `result` are filled in.
[[nodiscard]] std::vector<std::string> ReasonsForDoubt(const Generations& generations,
                                                       const RunResult& result);

// Says that the program had ended by then, and not all was judged or confirmed.
[[nodiscard]] std::string LateReason(std::chrono::milliseconds timeout);
// Says that the program was killed because it took too long, and in which test.
[[nodiscard]] std::string TimeoutReason(const Generations& generations,
                                        std::chrono::milliseconds timeout);

// Returns a line for each allowance of `budgets` that covered no finding. A directory of `given`,
// the files and directories as the user gave them, serves many binaries: what is there for tests
// that this one does not have is for another.
[[nodiscard]] std::vector<std::string> UnusedAllowances(
    const BudgetSet& budgets, const std::vector<std::filesystem::path>& given,
    const std::vector<WindowResult>& windows);

// Adds a warning for each test that was expected to leave memory (leakgate::ExpectOutstanding) and
// left none.
void AddUnmetExpectations(const Generations& generations, RunResult& result);

// Leaves no window of the result judged if frees of blocks were missed.
void DoubtMissedFrees(RunResult& result);

// Adds one traced image's counts.
void AddTracing(const RegionReader& region, TracingResult& tracing);
// Adds the counts of several images that have been added up.
void AddTracing(const TracingResult& from, TracingResult& to);

// Replaces kNotPassed by GoogleTest's own statuses, in the last iteration only, because
// GoogleTest's output has no other. Of a program that exits with 0, no test has failed, so what did
// not pass was skipped.
void RefineStatuses(const TestStatuses& statuses, const ProgramExit& program,
                    std::vector<WindowResult>& windows);

// Notes which windows were open when the process died: they were not measured to their ends.
void NoteUnended(const ProgramExit& program, std::vector<WindowResult>& windows);

// Returns the overall verdict, from windows and reasons.
[[nodiscard]] Verdict OverallVerdict(const RunResult& result);

// Returns whether, in the run of a GoogleTest binary, no test ran or all that ran were skipped.
[[nodiscard]] bool RanNoTestToItsEnd(const RunResult& result);

// Returns the runner's exit code: the program's own, unless it is 0.
[[nodiscard]] int FinalExitCode(const RunResult& result);

}  // namespace leakgate
