#include "runner/cli/budget_commands.h"

#include <fmt/format.h>

#include <cstdio>

#include "runner/attach/program_environment.h"
#include "runner/budget/date.h"
#include "runner/cli/agent_location.h"
#include "runner/cli/budget_check.h"
#include "runner/cli/budget_usage.h"
#include "runner/cli/explain_text.h"
#include "runner/cli/initial_budget.h"
#include "runner/cli/progress_display.h"
#include "runner/cli/terminal.h"
#include "runner/inspection/linux/process_image.h"
#include "runner/report/report_file.h"
#include "runner/report/text_report.h"
#include "runner/run/linux/test_listing.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr int kPass = static_cast<int>(ExitCode::kPass);
constexpr int kFail = static_cast<int>(ExitCode::kOverBudget);
constexpr int kUsage = static_cast<int>(ExitCode::kUsage);

struct ListedProgram {
  fs::path path;
  std::vector<TestId> tests;
};

// REQUIRES: `line` is not empty. Error: no such program, or it lists no tests.
Expected<ListedProgram> ListProgram(const ProgramLine& line) {
  const Expected<fs::path> program = FindProgram(line.front());
  if (!program) return Unexpected(program.error());
  ListedProgram listed{*program, {}};
  for (const auto& [name, source] : ListTests(*program, {line.begin() + 1, line.end()})) {
    listed.tests.push_back({name, source.file});
  }
  if (!listed.tests.empty()) return listed;
  return UsageError(
      fmt::format("{}: lists no tests; name a GoogleTest binary, and check its "
                  "--gtest_filter",
                  line.front()));
}

// What `budget check` has to say, as it goes.
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

// The good ones of the files.
std::vector<BudgetFile> CheckFiles(const std::vector<fs::path>& paths, CheckReport& report) {
  std::vector<BudgetFile> files;
  for (const fs::path& path : paths) {
    const Expected<std::string> text = ReadBudgetText(path);
    Expected<BudgetFile> file =
        text ? ParseBudgetFile(path, *text) : Expected<BudgetFile>(Unexpected(text.error()));
    if (!file) {
      report.Add(BudgetProblems{.errors = {file.error().message}, .warnings = {}});
      continue;
    }
    report.Add(fmt::format("{}: {}", path.string(), DescribeBudget(*file)));
    report.Add(CheckDates(*file, Today()));
    files.push_back(*std::move(file));
  }
  return files;
}

// Without a binary, what is for certain ones cannot be told to apply.
void TellWhatIsLeftOut(const std::vector<BudgetFile>& files) {
  for (const BudgetFile& file : files) {
    if (file.binaries.empty()) continue;
    PrintMessage(
        fmt::format("{} is for {} only, and left out; name the binary: leakgate explain "
                    "TEST ... -- BINARY",
                    file.path.string(), fmt::join(file.binaries, ", ")));
  }
}

Expected<void> RequireNew(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return {};
  return UsageError(fmt::format("{}: exists already; remove it, or name another file with -o FILE",
                                path.string()));
}

// Tightens one file, or only says how. The number of changes.
Expected<std::size_t> RatchetFile(const BudgetFile& file, const BudgetUsage& usage,
                                  UnusedEntries unused, RatchetMode mode) {
  const Expected<std::string> text = ReadBudgetText(file.path);
  if (!text) return Unexpected(text.error());
  const Expected<RatchetedBudget> tightened = Ratchet(file.path, *text, usage, unused);
  if (!tightened) return Unexpected(tightened.error());
  for (const std::string& change : tightened->changes) {
    PrintMessage(change);
  }
  if (mode == RatchetMode::kWrite && !tightened->changes.empty()) {
    const Expected<void> written = WriteFileAtomically(file.path, tightened->text);
    if (!written) return Unexpected(written.error());
  }
  return tightened->changes.size();
}

// REQUIRES: the run was green.
Expected<std::size_t> RatchetAll(const BudgetRatchetCommand& command, const RunResult& result) {
  Expected<std::vector<BudgetFile>> files = LoadBudgetFiles(command.request.budgets);
  if (!files) return Unexpected(files.error());
  const Expected<fs::path> program = FindProgram(command.request.program);
  if (!program) return Unexpected(program.error());
  const BudgetSet budgets(*std::move(files), *program);
  const bool ran_all = RanAllTests(command.request.arguments, OwnEnvironment());
  if (!ran_all) PrintMessage("some of the tests ran: nothing is removed");

  std::size_t changes = 0;
  for (const BudgetFile* file : budgets.Files()) {
    const BudgetUsage usage = UsageOf(*file, budgets, result, Today());
    const Expected<std::size_t> done = RatchetFile(
        *file, usage, ran_all ? UnusedEntries::kRemove : UnusedEntries::kKeep, command.mode);
    if (!done) return Unexpected(done.error());
    changes += *done;
  }
  return changes;
}

}  // namespace

Expected<int> Execute(const BudgetCheckCommand& command) {
  const Expected<std::vector<fs::path>> paths = FindBudgetFiles(command.budgets);
  if (!paths) return Unexpected(paths.error());
  CheckReport report;
  std::vector<BudgetFile> files = CheckFiles(*paths, report);
  if (!command.program.empty()) {
    const Expected<ListedProgram> program = ListProgram(command.program);
    if (!program) return Unexpected(program.error());
    report.Add(CheckAgainstTests(BudgetSet(std::move(files), program->path), program->tests));
  }
  Print(stdout, report.text);
  Print(stdout, fmt::format("leakgate: budget files: {}, errors: {}, warnings: {}\n", paths->size(),
                            report.errors, report.warnings));
  return report.errors == 0 ? kPass : kUsage;
}

Expected<int> Execute(BudgetInitCommand command) {
  if (const Expected<void> is_new = RequireNew(command.output); !is_new) {
    return Unexpected(is_new.error());
  }
  command.request.agent = FindAgent();
  const Expected<RunResult> result = RunShowingProgress(command.request, command.progress);
  if (!result) return Unexpected(result.error());
  if (result->verdict == Verdict::kInconclusive) {
    Print(stderr, SummaryText(*result, StyleOfStandardError()));
    return Unexpected(Error{fmt::format("{}: not written: the run was inconclusive; see above",
                                        command.output.string())});
  }
  const Expected<void> written =
      WriteFileAtomically(command.output, InitialBudget(command.component, *result, Today()));
  if (!written) return Unexpected(written.error());
  PrintMessage(
      fmt::format("wrote {}; fix what it allows, or write why it stays; then: leakgate run "
                  "--budgets {} -- {}",
                  command.output.string(), command.output.string(), command.request.program));
  return kPass;
}

Expected<int> Execute(BudgetRatchetCommand command) {
  command.request.agent = FindAgent();
  const Expected<RunResult> result = RunShowingProgress(command.request, command.progress);
  if (!result) return Unexpected(result.error());
  if (result->exit_code != kPass) {
    Print(stderr, SummaryText(*result, StyleOfStandardError()));
    PrintMessage("not a green run, so nothing was tightened");
    return result->exit_code;
  }
  const Expected<std::size_t> changes = RatchetAll(command, *result);
  if (!changes) return Unexpected(changes.error());
  const bool fails = command.mode == RatchetMode::kCheck && *changes != 0;
  PrintMessage(*changes == 0 ? "nothing to tighten"
               : fails       ? "to tighten: run it without --check"
                             : "tightened");
  return fails ? kFail : kPass;
}

Expected<int> Execute(const ExplainCommand& command) {
  Expected<std::vector<BudgetFile>> files = LoadBudgetFiles(command.budgets);
  if (!files) return Unexpected(files.error());
  fs::path program;
  TestId test{command.test, ""};
  if (!command.program.empty()) {
    const Expected<ListedProgram> listed = ListProgram(command.program);
    if (!listed) return Unexpected(listed.error());
    const Expected<TestId> found = FindTest(command.test, listed->tests);
    if (!found) return Unexpected(found.error());
    program = listed->path;
    test = *found;
  } else {
    TellWhatIsLeftOut(*files);
  }
  const Expected<std::string> text =
      ExplainText(BudgetSet(*std::move(files), program), test, Today());
  if (!text) return Unexpected(text.error());
  Print(stdout, *text);
  return kPass;
}

}  // namespace leakgate
