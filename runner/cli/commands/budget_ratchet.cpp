#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "runner/attach/program_environment.h"
#include "runner/base/atomic_file.h"
#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/process/process_image.h"
#include "runner/report/summary_text.h"
#include "runner/results/budgets/budget_usage.h"

namespace leakgate {
namespace {

// Tightens one file, or only prints how. Returns the number of changes.
Expected<std::size_t> RatchetFile(const BudgetFile& file, const BudgetUsage& usage,
                                  UnusedEntries unused, RatchetMode mode) {
  LEAKGATE_TRY_ASSIGN(const std::string text, ReadBudgetText(file.path));
  LEAKGATE_TRY_ASSIGN(const RatchetedBudget tightened, Ratchet(file.path, text, usage, unused));
  for (const std::string& change : tightened.changes) {
    PrintMessage(change);
  }
  if (mode == RatchetMode::kWrite && !tightened.changes.empty()) {
    LEAKGATE_TRY(WriteFileAtomically(file.path, tightened.text));
  }
  return tightened.changes.size();
}

// REQUIRES: the run was green.
Expected<std::size_t> RatchetAll(const BudgetRatchetCommand& command, const RunResult& result) {
  LEAKGATE_TRY_ASSIGN(std::vector<BudgetFile> files, LoadBudgetFiles(command.request.budgets));
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(command.request.program));
  const BudgetSet budgets(std::move(files), program);
  const bool ran_all = RanAllTests(command.request.arguments, OwnEnvironment());
  if (!ran_all) PrintMessage("some of the tests ran: nothing is removed");

  std::size_t changes = 0;
  for (const BudgetFile* file : budgets.Files()) {
    const BudgetUsage usage = UsageOf(*file, budgets, result, Today());
    LEAKGATE_TRY_ASSIGN(
        const std::size_t done,
        RatchetFile(*file, usage, ran_all ? UnusedEntries::kRemove : UnusedEntries::kKeep,
                    command.mode));
    changes += done;
  }
  return changes;
}

}  // namespace

void Declare(BudgetRatchetCommand& command, OptionList& options) {
  options.AddFlag("--check", command.mode, RatchetMode::kCheck,
                  "Change nothing; fail if something could be tightened");
  options.Add("--budgets", FileWord("FILE|DIR"), command.request.budgets,
              "As for leakgate run. Repeatable");
  AddProgress(command.progress, options);
}

Expected<void> Complete(BudgetRatchetCommand& command, const ProgramLine& program) {
  if (command.request.budgets.empty()) {
    return UsageError(
        "no budget to tighten; name it: leakgate budget ratchet --budgets DIR -- "
        "BINARY");
  }
  return SetProgram(program, "budget ratchet --budgets DIR", command.request);
}

Expected<int> Execute(BudgetRatchetCommand command) {
  command.request.agent = FindAgent();
  LEAKGATE_TRY_ASSIGN(const RunResult result,
                      RunShowingProgress(command.request, command.progress));
  if (result.exit_code != kExitPass) {
    Print(stderr, SummaryText(result, StyleOfStandardError()));
    PrintMessage("not a green run, so nothing was tightened");
    return result.exit_code;
  }
  LEAKGATE_TRY_ASSIGN(const std::size_t changes, RatchetAll(command, result));
  const bool fails = command.mode == RatchetMode::kCheck && changes != 0;
  PrintMessage(changes == 0 ? "nothing to tighten"
               : fails      ? "to tighten: run it without --check"
                            : "tightened");
  return fails ? static_cast<int>(ExitCode::kOverBudget) : kExitPass;
}

}  // namespace leakgate
