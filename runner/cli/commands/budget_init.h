// `leakgate budget init`: writes the first budget file of a component, from a run.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

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

// Returns the text of a budget file for the run's binary. Each call site that made a window fail
// gets an allowance of the most that it left in any window. Pure.
[[nodiscard]] std::string InitialBudget(const std::string& component, const RunResult& result,
                                        std::chrono::year_month_day today);

}  // namespace leakgate
