#include "runner/budget/budget_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"

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
  const std::string path = PathText(file.path);
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
                    PathText(file.path), pattern.line, Quoted(pattern.glob)));
  }
}

std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
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

}  // namespace leakgate
