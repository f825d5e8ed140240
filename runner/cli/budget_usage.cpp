#include "runner/cli/budget_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "runner/budget/apply_limits.h"

namespace leakgate {
namespace {

void Raise(MeasuredMaxima& maxima, const std::string& keys, std::int64_t measured) {
  std::int64_t& most = maxima.try_emplace(keys, 0).first->second;  // shrinking needs no limit
  most = std::max(most, measured);
}

void RaiseAmount(MeasuredMaxima& maxima, const std::string& keys, Amount measured) {
  Raise(maxima, keys + ".bytes", measured.bytes);
  Raise(maxima, keys + ".blocks", measured.blocks);
}

void RaiseNumber(MeasuredMaxima& maxima, const std::string& keys,
                 const std::optional<std::int64_t>& measured) {
  if (measured) Raise(maxima, keys, *measured);
}

// What was not measured in full must not lower a limit. What could not be told
// from lost or retained counts as retained.
void RaiseAll(MeasuredMaxima& maxima, const std::string& scope, const WindowResult& window) {
  RaiseAmount(maxima, scope + ".outstanding", window.outstanding - window.allowed);
  if (window.reach_problem.empty()) {
    RaiseAmount(maxima, scope + ".lost", window.lost);
    RaiseAmount(maxima, scope + ".retained", window.outstanding - window.lost);
  }
  RaiseAmount(maxima, scope + ".growth", window.growth);
  RaiseAmount(maxima, scope + ".allocated", window.allocated);
  Raise(maxima, scope + ".peak.bytes", window.peak_live_bytes);
  RaiseAmount(maxima, scope + ".mapped", window.mapped);
  RaiseNumber(maxima, scope + ".file_descriptors", window.file_descriptors);
  RaiseNumber(maxima, scope + ".threads", window.threads);
}

// The tests of a window: itself, or all of the suite's that ran.
std::vector<TestId> TestsOf(const WindowResult& window, const RunResult& result) {
  if (window.kind == WindowKind::kTest) return {{window.name, window.source_file}};
  std::vector<TestId> tests;
  for (const WindowResult& it : result.windows) {
    if (it.kind == WindowKind::kTest && it.name.starts_with(window.name + ".")) {
      tests.push_back({it.name, it.source_file});
    }
  }
  return tests;
}

bool Covers(const BudgetFile& file, const BudgetSet& budgets, const TestId& test) {
  const std::vector<BudgetCandidate> candidates = budgets.Candidates(test);
  return !candidates.empty() && candidates.front().file == &file;
}

class UsageCounter {
 public:
  UsageCounter(const BudgetFile& file, const BudgetSet& budgets, const RunResult& result,
               std::chrono::year_month_day today)
      : file_(file), budgets_(budgets), result_(result), today_(today) {}

  BudgetUsage Count() && {
    for (const WindowResult& window : result_.windows) {
      CountAllowances(window);
      const bool is_of_tests =
          window.kind == WindowKind::kTest || window.kind == WindowKind::kSuite;
      if (is_of_tests) CountOverrides(window);
    }
    return std::move(usage_);
  }

 private:
  // Blocks and mappings are held against an allowance each by themselves.
  void CountAllowances(const WindowResult& window) {
    CountAllowances(window.findings);
    CountAllowances(window.mappings);
  }

  void CountAllowances(const std::vector<Finding>& findings) {
    std::map<std::string, Amount> covered;
    for (const Finding& finding : findings) {
      if (!finding.allowance.empty()) covered[finding.allowance] += finding.amount;
    }
    for (const Allowance& it : file_.allowances) {
      const auto found = covered.find(fmt::format("{}:{}", file_.path.string(), it.line));
      if (found == covered.end()) continue;
      Amount& most = usage_.allowances[it.line];
      most.bytes = std::max(most.bytes, found->second.bytes);
      most.blocks = std::max(most.blocks, found->second.blocks);
    }
  }

  void CountOverrides(const WindowResult& window) {
    const std::vector<TestId> tests = TestsOf(window, result_);
    std::vector<std::string> names;
    for (const TestId& test : tests) names.push_back(test.name);
    const bool covers = std::all_of(tests.begin(), tests.end(), [&](const TestId& test) {
      return Covers(file_, budgets_, test);
    });
    // What code left in someone else's test is a part of that test's amounts only:
    // it says that an override is used, not how much of it.
    const bool owns_code = !file_.code.empty() || file_.component == kUnowned;
    if (!covers && !owns_code) return;
    for (const Override& it : file_.overrides) {
      if (HasExpired(it.expires, today_) || !MatchesAllTests(it.tests, names)) continue;
      MeasuredMaxima& maxima = usage_.overrides[it.line];
      if (owns_code) continue;
      RaiseAll(maxima, window.kind == WindowKind::kTest ? "test" : "suite", window);
    }
  }

  const BudgetFile& file_;
  const BudgetSet& budgets_;
  const RunResult& result_;
  std::chrono::year_month_day today_;
  BudgetUsage usage_;
};

}  // namespace

BudgetUsage UsageOf(const BudgetFile& file, const BudgetSet& budgets, const RunResult& result,
                    std::chrono::year_month_day today) {
  return UsageCounter(file, budgets, result, today).Count();
}

bool RanAllTests(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment) {
  static constexpr std::array<std::string_view, 3> kChoosing = {
      "GTEST_FILTER=", "GTEST_TOTAL_SHARDS=", "TESTBRIDGE_TEST_ONLY="};
  const bool is_filtered =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument.starts_with("--gtest_filter") || argument.starts_with("-gtest_filter");
      });
  return !is_filtered &&
         std::none_of(environment.begin(), environment.end(), [](const std::string& variable) {
           return std::any_of(kChoosing.begin(), kChoosing.end(),
                              [&](std::string_view name) { return variable.starts_with(name); });
         });
}

}  // namespace leakgate
