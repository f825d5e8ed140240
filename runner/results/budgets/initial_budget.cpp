#include "runner/results/budgets/initial_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "runner/base/path_text.h"
#include "runner/budget/wording.h"
#include "runner/results/budgets/initial_entries.h"

namespace leakgate {

InitialBudget MakeInitialBudget(const std::string& component, const RunResult& result,
                                std::chrono::year_month_day today) {
  const std::string reason = fmt::format(
      "found by leakgate budget init on {}; fix it, or say why it stays", DateText(today));
  std::vector<const WindowResult*> failing;
  for (const WindowResult& window : result.windows) {
    if (window.verdict == Verdict::kOverBudget) failing.push_back(&window);
  }
  const InitialEntries found(std::move(failing), EntryScope::kAnyTest,
                             [&](const WindowResult&, const Finding&) { return reason; });
  std::vector<std::string> allowances;
  for (const InitialEntry& entry : found.entries()) allowances.push_back(EntryText(entry));
  std::sort(allowances.begin(), allowances.end());
  const std::string list =
      allowances.empty() ? "[]" : fmt::format("[{}\n  ]", fmt::join(allowances, ","));
  const Amount lost = found.LostByProgram();
  const std::string limits = lost == Amount{} ? ""
                                              : fmt::format(
                                                    "  \"limits\": {{ \"program\": {{ \"lost\": "
                                                    "{{ \"bytes\": {}, \"blocks\": {} }} }} }},\n",
                                                    lost.bytes, lost.blocks);
  return {
      fmt::format("{{\n  \"component\": {},\n  \"binaries\": [{}],\n{}  \"allowances\": {}\n}}\n",
                  Quoted(component), Quoted(FileNameIn(result.binary)), limits, list),
      found.StillFailing()};
}

}  // namespace leakgate
