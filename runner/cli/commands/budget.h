// `leakgate budget check`, `init` and `ratchet`, and `leakgate explain`: the commands about budget
// files. Each has a source file of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/cli/option_list.h"
#include "runner/cli/terminal.h"
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
