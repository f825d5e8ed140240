// `leakgate budget check`, `init` and `ratchet`, and `leakgate explain`: the commands about budget
// files. Each has a source file of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/cli/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/result/run_result.h"
#include "runner/run/judged_run.h"

namespace leakgate {

// Finds what is wrong, or soon will be, with budget files that parse. With a program, also holds
// them against its tests.
struct BudgetCheckCommand {
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

void Declare(BudgetCheckCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(BudgetCheckCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const BudgetCheckCommand& command);

// These functions are pure, except that files are ranked by their directories.

// Lines that begin with the file, and tell what to do.
struct BudgetProblems {
  std::vector<std::string> errors;    // a run would end, or fail, because of them
  std::vector<std::string> warnings;  // nothing fails yet
};

// Returns what is wrong with one file on the date `today`.
[[nodiscard]] BudgetProblems CheckDates(const BudgetFile& file, std::chrono::year_month_day today);

// Returns conflicts for the tests of a binary, and patterns that match none of them.
[[nodiscard]] BudgetProblems CheckAgainstTests(const BudgetSet& budgets,
                                               const std::vector<TestId>& tests);

// Returns "ok: component net, 2 overrides, 1 allowance".
[[nodiscard]] std::string DescribeBudget(const BudgetFile& file);

// Writes the first budget file of a component, from a run.
struct BudgetInitCommand {
  std::string component;
  std::filesystem::path output;  // empty on the command line: it is named after the component
  RunRequest request;            // its `agent` is left empty
  ProgressMode progress = ProgressMode::kAuto;
};

void Declare(BudgetInitCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(BudgetInitCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(BudgetInitCommand command);

struct InitialBudget {
  std::string text;
  // What fails under it all the same, as no entry can allow it, a line each.
  std::vector<std::string> still_failing;
};

// Makes a budget file for the run's binary, under which the same run is green. Each call site that
// made a window fail gets an allowance of the most that its entry has to cover in any window that
// failed, which is found out by judging the run's findings by the file. Pure.
[[nodiscard]] InitialBudget MakeInitialBudget(const std::string& component, const RunResult& result,
                                              std::chrono::year_month_day today);

enum class RatchetMode {
  kWrite,
  kCheck,  // changes nothing, and fails if it would
};

// Tightens budget files to what a green run needs.
struct BudgetRatchetCommand {
  RatchetMode mode = RatchetMode::kWrite;
  RunRequest request;  // its `agent` is left empty
  ProgressMode progress = ProgressMode::kAuto;
};

void Declare(BudgetRatchetCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(BudgetRatchetCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(BudgetRatchetCommand command);

// Returns what the run needed of `file`, one of the `budgets` that the run was judged by. It is
// pure, except that files are ranked by their directories.
[[nodiscard]] BudgetUsage UsageOf(const BudgetFile& file, const BudgetSet& budgets,
                                  const RunResult& result, std::chrono::year_month_day today);

// Tells whether all tests ran: without a filter, and not as one shard of several. `environment`
// is that of the run, NAME=VALUE.
[[nodiscard]] bool RanAllTests(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment);

// Tells in words which budget applies to a test, and why.
struct ExplainCommand {
  std::string test;
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

void Declare(ExplainCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(ExplainCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const ExplainCommand& command);

// Returns what `leakgate explain` prints, or an error if two files claim the test. It is pure,
// except that files are ranked by their directories.
[[nodiscard]] Expected<std::string> ExplainText(const BudgetSet& budgets, const TestId& test,
                                                std::chrono::year_month_day today);

// Returns the test of that name. If there is none, the error proposes another.
[[nodiscard]] Expected<TestId> FindTest(const std::string& name, const std::vector<TestId>& tests);

}  // namespace leakgate
