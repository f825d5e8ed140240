#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

constexpr std::chrono::days kSoon{30};

bool MatchesATest(const std::string& pattern, const std::vector<TestId>& tests) {
  return std::any_of(tests.begin(), tests.end(),
                     [&](const TestId& test) { return MatchesFilter(pattern, test.name); });
}

// `place` says where the patterns stand: "FILE", or "FILE:LINE".
void AddUnmatched(const std::string& place, const std::vector<std::string>& patterns,
                  const std::vector<TestId>& tests, std::vector<std::string>& warnings) {
  for (const std::string& pattern : patterns) {
    if (MatchesATest(pattern, tests)) continue;
    warnings.push_back(
        fmt::format("{}: tests: {} matches no test of the binary; correct it, or "
                    "remove it",
                    place, Quoted(pattern)));
  }
}

void AddUnmatchedOf(const BudgetFile& file, const std::vector<TestId>& tests,
                    std::vector<std::string>& warnings) {
  const std::string path = file.path.string();
  AddUnmatched(path, file.tests, tests, warnings);
  for (const Override& it : file.overrides) {
    AddUnmatched(fmt::format("{}:{}", path, it.line), it.tests, tests, warnings);
  }
  for (const Allowance& it : file.allowances) {
    AddUnmatched(fmt::format("{}:{}", path, it.line), it.tests, tests, warnings);
  }
}

// Warns of a pattern without wildcards that can mean nothing but the binary itself.
void AddSelfNamed(const BudgetFile& file, const std::string& binary_name,
                  std::vector<std::string>& warnings) {
  for (const ProcessPattern& pattern : file.processes) {
    if (pattern.glob != binary_name) continue;
    warnings.push_back(
        fmt::format("{}:{}: processes: {} is the binary itself, whose death tests are not meant; "
                    "name what its tests start",
                    file.path.string(), pattern.line, Quoted(pattern.glob)));
  }
}

std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

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
    report.Add(fmt::format("{}: {}", path.string(), DescribeBudget(*file)));
    report.Add(CheckDates(*file, Today()));
    files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace

BudgetProblems CheckDates(const BudgetFile& file, std::chrono::year_month_day today) {
  return {.errors = ExpiredEntries(file, today), .warnings = ExpiringEntries(file, today, kSoon)};
}

BudgetProblems CheckAgainstTests(const BudgetSet& budgets, const std::vector<TestId>& tests) {
  BudgetProblems problems;
  // Two files may conflict over many tests. Only the first test is named.
  std::set<std::pair<const BudgetFile*, const BudgetFile*>> told;
  for (const TestId& test : tests) {
    const Expected<AppliedBudget> budget = budgets.ForTest(test);
    if (budget) continue;
    const std::vector<BudgetCandidate> candidates = budgets.Candidates(test);
    if (!told.insert({candidates.at(0).file, candidates.at(1).file}).second) continue;
    problems.errors.push_back(budget.error().message);
  }
  if (const auto program = budgets.ForProgram(); !program) {
    problems.errors.push_back(program.error().message);
  }
  for (const BudgetFile* file : budgets.Files()) {
    AddUnmatchedOf(*file, tests, problems.warnings);
    AddSelfNamed(*file, budgets.binary_name(), problems.warnings);
  }
  return problems;
}

std::string DescribeBudget(const BudgetFile& file) {
  return fmt::format("ok: component {}, {}, {}", file.component,
                     Counted(file.overrides.size(), "override"),
                     Counted(file.allowances.size(), "allowance"));
}

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
  Print(stdout, fmt::format("leakgate: budget files: {}, errors: {}, warnings: {}\n", paths.size(),
                            report.errors, report.warnings));
  return static_cast<int>(report.errors == 0 ? ExitCode::kPass : ExitCode::kUsage);
}

}  // namespace leakgate
