#include <fmt/format.h>

#include <cstdio>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/budget/wording.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/report/summary_text.h"
#include "runner/results/budgets/initial_budget.h"

namespace leakgate {
namespace {

Expected<void> RequireNew(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return {};
  return UsageError(fmt::format("{}: exists already; remove it, or name another file with -o FILE",
                                PathText(path)));
}

}  // namespace

void Declare(BudgetInitCommand& command, OptionList& options) {
  options.Add("--component", TextWord("NAME"), command.component,
              "Whose tests they are; reports show it");
  options.Add("-o,--output", FileWord("FILE"), command.output,
              "Default: NAME.leakgate.json. It must not exist yet");
  AddProgress(command.progress, options);
}

// The file is named after the component, unless -o names it.
Expected<void> Complete(BudgetInitCommand& command, const ProgramLine& program) {
  if (command.component.find_first_not_of(" \t") == std::string::npos) {
    return UsageError("no component; name it: leakgate budget init --component NAME -- BINARY");
  }
  if (Expected<void> set = SetProgram(program, "budget init --component NAME", command.request);
      !set) {
    return set;
  }
  if (!command.output.empty()) return {};
  if (command.component.find('/') != std::string::npos) {
    return UsageError(
        fmt::format("--component '{}': has a '/'; name the file with -o FILE", command.component));
  }
  command.output = command.component + ".leakgate.json";
  return {};
}

Expected<int> Execute(BudgetInitCommand command) {
  LEAKGATE_TRY(RequireNew(command.output));
  command.request.agent = FindAgent();
  command.request.names_all = true;  // an entry covers what passes by proof, too, if it matches
  LEAKGATE_TRY_ASSIGN(const RunResult result,
                      RunShowingProgress(command.request, command.progress));
  if (result.verdict == Verdict::kInconclusive) {
    Print(stderr, SummaryText(result, StyleOfStandardError()));
    return Unexpected(Error{fmt::format("{}: not written: the run was inconclusive; see above",
                                        PathText(command.output))});
  }
  const InitialBudget budget = MakeInitialBudget(command.component, result, Today());
  LEAKGATE_TRY(WriteFileAtomically(command.output, budget.text));
  PrintMessage(
      fmt::format("wrote {}; fix what it allows, or write why it stays; then: leakgate run "
                  "--budgets {} -- {}",
                  PathText(command.output), PathText(command.output), command.request.program));
  for (const std::string& line : budget.still_failing) PrintMessage(line);
  return static_cast<int>(budget.still_failing.empty() ? ExitCode::kPass : ExitCode::kOverBudget);
}

}  // namespace leakgate
