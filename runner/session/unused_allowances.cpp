#include "runner/session/unused_allowances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "runner/budget/apply_limits.h"
#include "runner/budget/expiry.h"

namespace leakgate {
namespace {

std::set<std::string> UsedPlaces(const std::vector<WindowResult>& windows) {
  std::set<std::string> places;
  for (const WindowResult& window : windows) {
    for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
      for (const Finding& finding : *findings) {
        if (!finding.allowance.empty()) places.insert(finding.allowance);
      }
    }
  }
  return places;
}

void AddUnmet(const RegionReader& region, const std::set<std::string>& used, RunResult& result) {
  for (std::uint32_t id = 1; id < region.AllowanceCount(); ++id) {
    const AllowanceCopy allowance = region.Allowance(id);
    if (allowance.kind != AllowanceKind::kExpected) continue;
    const std::string place = fmt::format("{}:{}", allowance.file, allowance.line);
    if (used.contains(place)) continue;
    result.warnings.push_back(
        fmt::format("{}: {} was to leave memory outstanding and left none; remove the expectation",
                    place, region.Window(allowance.window).name));
  }
}

}  // namespace

std::vector<std::string> UnusedAllowances(const BudgetSet& budgets,
                                          const std::vector<WindowResult>& windows) {
  const std::set<std::string> used = UsedPlaces(windows);
  std::vector<std::string> lines;
  for (const BudgetFile* const file : budgets.Files()) {
    for (const Allowance& allowance : file->allowances) {
      const std::string place = fmt::format("{}:{}", file->path.string(), allowance.line);
      if (used.contains(place) || HasExpired(allowance.expires, Today())) continue;
      lines.push_back(fmt::format("{}: the allowance for {} was not used; remove it", place,
                                  fmt::join(allowance.stack, ", ")));
    }
  }
  return lines;
}

void AddUnmetExpectations(const Generations& generations, RunResult& result) {
  const std::set<std::string> used = UsedPlaces(result.windows);
  for (const auto& process : generations.processes()) AddUnmet(process->region(), used, result);
}

bool RunsAllTests(const std::vector<std::string>& arguments) {
  const bool is_filtered =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument.find("gtest_filter") != std::string::npos ||
               argument.find("gtest_flagfile") != std::string::npos;
      });
  return !is_filtered && std::getenv("GTEST_FILTER") == nullptr &&
         std::getenv("GTEST_TOTAL_SHARDS") == nullptr;
}

}  // namespace leakgate
