#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "runner/attribution/stack_pattern.h"
#include "runner/base/atomic_file.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/wording.h"
#include "runner/cli/app/option_values.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/terminal.h"
#include "runner/report/finding_text.h"
#include "runner/report/summary_text.h"

namespace leakgate {
namespace {

using AmountByPattern = std::map<std::vector<std::string>, Amount>;

// Returns whether the finding makes its window fail: it is lost, or grows each time.
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

// Returns the most that each call site left in any window that failed.
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

Expected<void> RequireNew(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return {};
  return UsageError(fmt::format("{}: exists already; remove it, or name another file with -o FILE",
                                path.string()));
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
  return kExitPass;
}

}  // namespace leakgate
