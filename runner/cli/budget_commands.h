// `leakgate budget ...` and `leakgate explain`: what was asked for, and doing it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/cli/progress_mode.h"
#include "runner/run/run_session.h"
#include "runner/util/expected.h"

namespace leakgate {

// A program to run or to ask for its tests, and its arguments; may be empty.
using ProgramLine = std::vector<std::string>;

// Validates budget files; with a program, also holds them against its tests.
struct BudgetCheckCommand {
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

// Writes a first budget file from a run.
struct BudgetInitCommand {
  std::string component;
  std::filesystem::path output;
  RunRequest request;  // its `agent` is left empty, here and below
  ProgressMode progress = ProgressMode::kAuto;
};

enum class RatchetMode {
  kWrite,
  kCheck,  // changes nothing, and fails if it would
};

// Tightens budget files to what a green run needs.
struct BudgetRatchetCommand {
  RatchetMode mode = RatchetMode::kWrite;
  RunRequest request;
  ProgressMode progress = ProgressMode::kAuto;
};

// Tells which budget applies to a test, and why.
struct ExplainCommand {
  std::string test;
  std::vector<std::filesystem::path> budgets;
  ProgramLine program;
};

// Prints to standard output and error, and returns the exit code. An error is
// for the caller to print.
[[nodiscard]] Expected<int> Execute(const BudgetCheckCommand& command);
[[nodiscard]] Expected<int> Execute(BudgetInitCommand command);
[[nodiscard]] Expected<int> Execute(BudgetRatchetCommand command);
[[nodiscard]] Expected<int> Execute(const ExplainCommand& command);

}  // namespace leakgate
