// `leakgate budget ratchet`: tightens budget files to what a green run needs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/result/run_result.h"
#include "runner/run/run_session.h"

namespace leakgate {

enum class RatchetMode {
  kWrite,
  kCheck,  // changes nothing, and fails if it would
};

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

}  // namespace leakgate
