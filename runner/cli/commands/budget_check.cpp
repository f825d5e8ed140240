#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/budget_problems.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

// Collects the problems that `budget check` prints.
struct CheckReport {
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;

  void Add(std::string_view line) { text += Printable(line) + '\n'; }
  void Add(const BudgetProblems& problems) {
    for (const std::string& line : problems.errors) Add("error: " + line);
    for (const std::string& line : problems.warnings) Add("warning: " + line);
    errors += problems.errors.size();
    warnings += problems.warnings.size();
  }
};

// Returns the files that are in order; the report tells of the others.
std::vector<BudgetFile> CheckFiles(const std::vector<std::filesystem::path>& paths,
                                   CheckReport& report) {
  std::vector<BudgetFile> files;
  for (const std::filesystem::path& path : paths) {
    const Expected<std::string> text = ReadBudgetText(path);
    Expected<BudgetFile> file =
        text ? ParseBudgetFile(path, *text) : Expected<BudgetFile>(Unexpected(text.error()));
    if (!file) {
      report.Add(BudgetProblems{
          .errors = text ? ListErrors(path, *text) : std::vector{text.error().message},
          .warnings = {}});
      continue;
    }
    report.Add(fmt::format("{}: {}", PathText(path), DescribeBudget(*file)));
    report.Add(CheckDates(*file, Today()));
    files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace

void Declare(BudgetCheckCommand& command, OptionList& options) {
  options.AddArgument("paths", FileWord("FILE|DIR"), command.budgets);
}

Expected<void> Complete(BudgetCheckCommand& command, const ProgramLine& program) {
  if (command.budgets.empty()) {
    return UsageError("no budget to check; name a file or a directory: leakgate budget check DIR");
  }
  command.program = program;
  return {};
}

Expected<int> Execute(const BudgetCheckCommand& command) {
  LEAKGATE_TRY_ASSIGN(const std::vector<std::filesystem::path> paths,
                      FindBudgetFiles(command.budgets));
  CheckReport report;
  std::vector<BudgetFile> files = CheckFiles(paths, report);
  if (!command.program.empty()) {
    LEAKGATE_TRY_ASSIGN(const ListedProgram program, ListProgram(command.program));
    report.Add(CheckAgainstTests(BudgetSet(std::move(files), program.path), program.tests));
  }
  Print(stdout, report.text);
  Print(stdout, fmt::format("leakgate: budget files: {}, errors: {}, warnings: {}{}\n",
                            paths.size(), report.errors, report.warnings,
                            report.errors == 0 ? "" : "; see leakgate help budgets"));
  return static_cast<int>(report.errors == 0 ? ExitCode::kPass : ExitCode::kUsage);
}

}  // namespace leakgate
