// Prepares a run before its program starts: finds the program's file, the source of its test
// boundaries, its tests, and the budgets that cover them.
#pragma once

#include <filesystem>

#include "common/region_layout.h"
#include "runner/budget/budget_set.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/process/image_inspection.h"
#include "runner/run/run_request.h"

namespace leakgate {

struct Preparation {
  std::filesystem::path program;
  LinkedFramework linked;
  TestSources sources;  // empty if there are no budgets to choose by them
  BudgetSet budgets;
};

// Returns an error if there is no such program, no agent, a bad budget file, or a GoogleTest event
// stream that the user sends elsewhere.
[[nodiscard]] Expected<Preparation> Prepare(const RunRequest& request);

// What follows are parts of Prepare that other commands use, too.

// Returns none for scripts and unreadable programs, which are inspected when they are stopped at
// exec.
[[nodiscard]] LinkedFramework FrameworkOf(const std::filesystem::path& program);

// Returns where the boundaries of such a program's tests come from.
[[nodiscard]] BoundarySource BoundariesOf(LinkedFramework linked);

// Returns one line that says how the tests of such a program are told apart. REQUIRES: it has a
// framework that does not tell them by itself.
[[nodiscard]] std::string AdviceAboutTests(LinkedFramework linked);

// Returns why GoogleTest's stream of events cannot be had of the program that the process executes;
// empty if it can.
[[nodiscard]] std::string StreamProblemOf(int pid);

// Returns an error if the agent's library does not exist.
[[nodiscard]] Expected<void> RequireAgent(const std::filesystem::path& agent);
// Returns an error if the program needs GoogleTest's only event stream to report test boundaries,
// and the user has taken the stream.
[[nodiscard]] Expected<void> RequireFreeStream(const std::vector<std::string>& arguments,
                                               LinkedFramework linked);

}  // namespace leakgate
