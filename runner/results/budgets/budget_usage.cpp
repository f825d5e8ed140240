#include "runner/results/budgets/budget_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/wording.h"
#include "runner/region/region_words.h"

namespace leakgate {
namespace {

// Raises the maxima of the windows of one scope, such as "test".
class ScopeMaxima {
 public:
  ScopeMaxima(std::string scope, MeasuredMaxima& maxima)
      : scope_(std::move(scope)), maxima_(maxima) {}

  void Raise(const AmountQuantity& quantity, Amount measured) {
    Raise(quantity.key(), ".bytes", measured.bytes);
    Raise(quantity.key(), ".blocks", measured.blocks);
  }
  void Raise(const NumberQuantity& quantity, const std::optional<std::int64_t>& measured) {
    if (measured) Raise(quantity.key(), quantity.in_bytes ? ".bytes" : "", *measured);
  }

 private:
  void Raise(std::string_view key, std::string_view unit, std::int64_t measured) {
    std::int64_t& most = maxima_[fmt::format("{}.{}{}", scope_, key, unit)];
    most = std::max(most, measured);  // shrinking needs no limit
  }

  std::string scope_;
  MeasuredMaxima& maxima_;
};

// A window that was not measured in full must not lower a limit. Blocks that may be lost or
// retained count as retained.
void RaiseAll(ScopeMaxima maxima, const WindowResult& window) {
  maxima.Raise(quantity::kOutstanding, window.outstanding - window.allowed);
  if (window.reach_problem.empty()) {
    maxima.Raise(quantity::kLost, window.lost);
    maxima.Raise(quantity::kRetained, window.outstanding - window.lost);
  }
  maxima.Raise(quantity::kGrowth, window.growth);
  maxima.Raise(quantity::kAllocated, window.allocated);
  if (window.temporary) maxima.Raise(quantity::kTemporary, *window.temporary);
  maxima.Raise(quantity::kPeak, window.peak_live_bytes);
  maxima.Raise(quantity::kMapped, window.mapped);
  maxima.Raise(quantity::kFileDescriptors, window.file_descriptors);
  maxima.Raise(quantity::kThreads, window.threads);
}

// Returns the tests of a window: a suite's window has all tests of the suite that ran.
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
    for (const Allowance& it : file_.allowances) {
      if (!HasAllTests(it)) usage_.of_other_binaries.insert(it.line);
    }
    for (const WindowResult& window : result_.windows) {
      CountAllowances(window);
      const bool is_of_tests =
          window.kind == WindowKind::kTest || window.kind == WindowKind::kSuite;
      if (is_of_tests) CountOverrides(window);
    }
    return std::move(usage_);
  }

 private:
  // Returns whether each filter of the allowance matches a test of the run.
  [[nodiscard]] bool HasAllTests(const Allowance& allowance) const {
    return std::all_of(
        allowance.tests.begin(), allowance.tests.end(), [&](const std::string& filter) {
          return std::any_of(
              result_.windows.begin(), result_.windows.end(), [&](const WindowResult& window) {
                return window.kind == WindowKind::kTest && MatchesFilter(filter, window.name);
              });
        });
  }

  // Blocks and mappings are compared with an allowance separately.
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
      const auto found = covered.find(fmt::format("{}:{}", PathText(file_.path), it.line));
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
    // The blocks that a component's code left in the test of another component are only a part of
    // that test's amounts. They tell that an override is used, but not how much of it.
    const bool owns_code = !file_.code.empty() || file_.component == kUnowned;
    if (!covers && !owns_code) return;
    for (const Override& it : file_.overrides) {
      if (HasExpired(it.expires, today_) || !MatchesAllTests(it.tests, names)) continue;
      MeasuredMaxima& maxima = usage_.overrides[it.line];
      if (owns_code) continue;
      const bool is_test = window.kind == WindowKind::kTest;
      RaiseAll({Word(is_test ? WindowKind::kTest : WindowKind::kSuite), maxima}, window);
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
