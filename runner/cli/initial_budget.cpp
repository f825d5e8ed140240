#include "runner/cli/initial_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "runner/attribution/stack_pattern.h"
#include "runner/budget/expiry.h"
#include "runner/budget/wording.h"
#include "runner/report/finding_fate.h"

namespace leakgate {
namespace {

using AmountByPattern = std::map<std::vector<std::string>, Amount>;

// Whether it is a reason for the failure of its window: lost, or grown each time.
bool MakesFail(const Finding& finding) {
  if (finding.disposition == Disposition::kSteady) return true;
  return CountsLiterally(finding) && IsUsers(finding) && IsLost(finding.reach);
}

AmountByPattern FailingSites(const WindowResult& window) {
  AmountByPattern sites;
  for (const Finding& finding : window.findings) {
    if (!MakesFail(finding)) continue;
    const std::vector<std::string> pattern = SuggestPattern(finding);
    if (!pattern.empty()) sites[pattern] += finding.amount;
  }
  return sites;
}

// The most that each call site left in any window that failed.
AmountByPattern FailingSites(const RunResult& result) {
  AmountByPattern most;
  for (const WindowResult& window : result.windows) {
    if (window.verdict != Verdict::kOverBudget) continue;
    for (const auto& [pattern, amount] : FailingSites(window)) {
      Amount& known = most[pattern];
      known.bytes = std::max(known.bytes, amount.bytes);
      known.blocks = std::max(known.blocks, amount.blocks);
    }
  }
  return most;
}

std::string AllowanceText(const std::vector<std::string>& pattern, Amount amount,
                          const std::string& reason) {
  std::vector<std::string> globs;
  for (const std::string& glob : pattern) globs.push_back(Quoted(glob));
  return fmt::format(R"(
    {{
      "stack": [{}],
      "bytes": {},
      "blocks": {},
      "reason": {}
    }})",
                     fmt::join(globs, ", "), amount.bytes, amount.blocks, Quoted(reason));
}

}  // namespace

std::string InitialBudget(const std::string& component, const RunResult& result,
                          std::chrono::year_month_day today) {
  const std::string reason = fmt::format(
      "found by leakgate budget init on {}; fix it, or say why it stays", DateText(today));
  std::vector<std::string> allowances;
  for (const auto& [pattern, amount] : FailingSites(result)) {
    allowances.push_back(AllowanceText(pattern, amount, reason));
  }
  const std::string list =
      allowances.empty() ? "[]" : fmt::format("[{}\n  ]", fmt::join(allowances, ","));
  return fmt::format("{{\n  \"component\": {},\n  \"binaries\": [{}],\n  \"allowances\": {}\n}}\n",
                     Quoted(component),
                     Quoted(std::filesystem::path(result.binary).filename().string()), list);
}

}  // namespace leakgate
