// `leakgate budget init`: writes the first budget file of a component, from a run.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/result/run_result.h"
#include "runner/run/run_session.h"

namespace leakgate {

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

}  // namespace leakgate
