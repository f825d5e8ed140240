#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/attribution/suggested_pattern.h"
#include "runner/base/atomic_file.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/wording.h"
#include "runner/cli/app/option_values.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"
#include "runner/report/summary_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// An entry of the file to be. The allowance's line is the entry's number, which tells it apart
// from the others.
struct InitialEntry {
  AppliedAllowance allowance;
  std::vector<std::string> tests;  // empty: every test
  Amount most;                     // that it must cover in any window
};

// Returns whether the finding makes its window fail: it is lost, or grows each time.
bool MakesFail(const Finding& finding) {
  if (finding.disposition == Disposition::kSteady) return true;
  return CountsLiterally(finding) && IsUsers(finding) && IsLost(finding.reach);
}

// Returns whether an allowance would take the finding's blocks, if it matches them: whatever became
// of them later, at the window's end they were open.
bool AsksForAllowance(const Finding& finding) {
  return IsUsers(finding) && finding.disposition != Disposition::kAllowed &&
         finding.disposition != Disposition::kOtherThread &&
         finding.disposition != Disposition::kKnown;
}

// Returns the filters for the tests of a window; empty for the program.
std::vector<std::string> FiltersOf(const WindowResult& window) {
  switch (window.kind) {
    case WindowKind::kTest:
      return {window.name};
    case WindowKind::kSuite:
      return {window.name + ".*"};
    case WindowKind::kProcess:
      return {window.started_by};
    case WindowKind::kProgram:
      break;
  }
  return {};
}

// What main loses has no pattern that would not match all that the tests lose.
bool IsLimitedForProgram(const WindowResult& window, const Finding& finding) {
  return window.kind == WindowKind::kProgram && IsOfEveryTest(finding);
}

// Finds the entries that make a run green, by judging the run's findings by them.
class InitialEntries {
 public:
  explicit InitialEntries(const RunResult& result) {
    for (const WindowResult& window : result.windows) {
      if (window.verdict == Verdict::kOverBudget) failing_.push_back(&window);
    }
    for (const WindowResult* const window : failing_) {
      AddEntries(*window, window->findings);
      AddEntries(*window, window->mappings);
    }
    do Replay();
    while (RemoveUnneeded());
  }

  [[nodiscard]] const std::vector<InitialEntry>& entries() const { return entries_; }
  // What the program's own window may lose.
  [[nodiscard]] Amount LostByProgram() const { return lost_by_program_; }

  // Returns what no entry can allow, a line each.
  [[nodiscard]] std::vector<std::string> StillFailing() const {
    std::vector<std::string> lines = without_pattern_;
    for (const WindowResult* const window : failing_) {
      if (CountNewFreeErrors(*window) == 0) continue;
      lines.push_back(fmt::format("{} still fails: no entry allows its freeing errors; mend them",
                                  WindowName(*window)));
    }
    return lines;
  }

 private:
  void AddEntries(const WindowResult& window, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (!MakesFail(finding)) continue;
      if (IsLimitedForProgram(window, finding)) {
        lost_by_program_ += finding.amount;
        continue;
      }
      const std::vector<std::string> pattern = SuggestPattern(finding);
      if (pattern.empty()) {
        without_pattern_.push_back(fmt::format(
            "{} still fails: {} of {} cannot be allowed, as no function of its call stack is "
            "known; build the program with symbols",
            WindowName(window), FormatAmount(finding.amount), DescribeCallSite(finding)));
        continue;
      }
      AddEntry(pattern, IsOfEveryTest(finding) ? FiltersOf(window) : std::vector<std::string>());
    }
  }

  void AddEntry(const std::vector<std::string>& pattern, const std::vector<std::string>& tests) {
    const bool is_known =
        std::any_of(entries_.begin(), entries_.end(), [&](const InitialEntry& entry) {
          return entry.allowance.stack == pattern && entry.tests == tests;
        });
    if (is_known) return;
    InitialEntry entry;
    entry.allowance.stack = pattern;
    entry.tests = tests;
    entries_.push_back(std::move(entry));
  }

  // Gives each finding to the entry that would take it, and sums up what each entry needs.
  void Replay() {
    needed_.assign(entries_.size(), false);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].allowance.source.line = static_cast<int>(i);
      entries_[i].most = {};
    }
    for (const WindowResult* const window : failing_) {
      Replay(*window, window->findings);
      Replay(*window, window->mappings);
    }
  }

  void Replay(const WindowResult& window, const std::vector<Finding>& findings) {
    std::vector<AppliedAllowance> applied;
    for (const InitialEntry& entry : entries_) {
      if (entry.tests.empty() || entry.tests == FiltersOf(window)) {
        applied.push_back(entry.allowance);
      }
    }
    std::map<std::size_t, Amount> taken;
    for (const Finding& finding : findings) {
      if (!AsksForAllowance(finding) || IsLimitedForProgram(window, finding)) continue;
      const std::vector<const AppliedAllowance*> matching = FindAllowances(applied, finding);
      if (matching.empty()) continue;
      const auto entry = static_cast<std::size_t>(matching.front()->source.line);
      taken[entry] += finding.amount;
      if (MakesFail(finding)) needed_[entry] = true;
    }
    for (const auto& [entry, amount] : taken) {
      Amount& most = entries_[entry].most;
      most.bytes = std::max(most.bytes, amount.bytes);
      most.blocks = std::max(most.blocks, amount.blocks);
    }
  }

  // Removes entries that take nothing which fails. Returns whether there were any.
  bool RemoveUnneeded() {
    std::vector<InitialEntry> kept;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (needed_[i]) kept.push_back(std::move(entries_[i]));
    }
    const bool has_removed = kept.size() != entries_.size();
    entries_ = std::move(kept);
    return has_removed;
  }

  std::vector<const WindowResult*> failing_;
  std::vector<InitialEntry> entries_;
  std::vector<bool> needed_;
  Amount lost_by_program_;
  std::vector<std::string> without_pattern_;
};

std::string QuotedList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string EntryText(const InitialEntry& entry, const std::string& reason) {
  const std::string tests =
      entry.tests.empty() ? "" : fmt::format("\n      \"tests\": {},", QuotedList(entry.tests));
  return fmt::format(R"(
    {{
      "stack": {},{}
      "bytes": {},
      "blocks": {},
      "reason": {}
    }})",
                     QuotedList(entry.allowance.stack), tests, entry.most.bytes, entry.most.blocks,
                     Quoted(reason));
}

Expected<void> RequireNew(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return {};
  return UsageError(fmt::format("{}: exists already; remove it, or name another file with -o FILE",
                                path.string()));
}

}  // namespace

InitialBudget MakeInitialBudget(const std::string& component, const RunResult& result,
                                std::chrono::year_month_day today) {
  const std::string reason = fmt::format(
      "found by leakgate budget init on {}; fix it, or say why it stays", DateText(today));
  const InitialEntries found(result);
  std::vector<std::string> allowances;
  for (const InitialEntry& entry : found.entries()) allowances.push_back(EntryText(entry, reason));
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
                  Quoted(component),
                  Quoted(std::filesystem::path(result.binary).filename().string()), limits, list),
      found.StillFailing()};
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
  command.request.names_all = true;  // an entry covers what passes by proof, too, if it matches
  const Expected<RunResult> result = RunShowingProgress(command.request, command.progress);
  if (!result) return Unexpected(result.error());
  if (result->verdict == Verdict::kInconclusive) {
    Print(stderr, SummaryText(*result, StyleOfStandardError()));
    return Unexpected(Error{fmt::format("{}: not written: the run was inconclusive; see above",
                                        command.output.string())});
  }
  const InitialBudget budget = MakeInitialBudget(command.component, *result, Today());
  const Expected<void> written = WriteFileAtomically(command.output, budget.text);
  if (!written) return Unexpected(written.error());
  PrintMessage(
      fmt::format("wrote {}; fix what it allows, or write why it stays; then: leakgate run "
                  "--budgets {} -- {}",
                  command.output.string(), command.output.string(), command.request.program));
  for (const std::string& line : budget.still_failing) PrintMessage(line);
  return static_cast<int>(budget.still_failing.empty() ? ExitCode::kPass : ExitCode::kOverBudget);
}

}  // namespace leakgate
