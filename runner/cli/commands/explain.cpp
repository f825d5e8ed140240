#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/applied_budget.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"
#include "runner/cli/commands/budget.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

// Returns the text on one line, whatever names are in it.
template <typename... Values>
std::string Line(fmt::format_string<Values...> format, Values&&... values) {
  return Printable(fmt::format(format, std::forward<Values>(values)...)) + '\n';
}

std::string PlaceOf(const LimitSource& source) {
  return fmt::format("{}:{}", source.file, source.line);
}

std::string ReasonOf(const std::string& reason) {
  return reason.empty() ? "" : fmt::format("  \"{}\"", reason);
}

std::string RankText(const BudgetCandidate& candidate, bool has_source) {
  if (!has_source) return "the test's source file is not known";
  if (candidate.depth == 0) return "its directory does not contain the test's source file";
  return fmt::format("its directory, {} deep, contains the test's source file", candidate.depth);
}

std::string FilesText(const std::vector<BudgetCandidate>& candidates, const TestId& test) {
  if (candidates.empty()) return "file: none covers it\n";
  const BudgetFile& winner = *candidates.front().file;
  const std::string owner = winner.owner.empty() ? "" : ", owner " + winner.owner;
  std::string text =
      Line("file: {} (component {}{})", PathText(winner.path), winner.component, owner);
  if (candidates.size() == 1) return text + "  the only one that covers it\n";
  for (const BudgetCandidate& it : candidates) {
    text += Line("  {} {}: {}",
                 &it == &candidates.front() ? "wins: " : "loses:", PathText(it.file->path),
                 RankText(it, !test.source_file.empty()));
  }
  return text;
}

std::string LimitText(std::string_view keys, const std::optional<AppliedLimit>& limit,
                      std::string_view unit) {
  if (!limit) return "";
  return Line("  {:<18} {:>12} {:<6}  {}{}", keys, limit->value, unit, PlaceOf(limit->source),
              ReasonOf(limit->source.reason));
}

std::string LimitsText(const AppliedBudget& budget) {
  std::string lines;
  for (const AmountQuantity& quantity : kAmountQuantities) {
    const AppliedAmountLimits& limits = budget.*quantity.applied;
    lines += LimitText(quantity.key(), limits.bytes, "bytes");
    lines += LimitText(quantity.key(), limits.blocks, "blocks");
  }
  for (const NumberQuantity& quantity : kNumberQuantities) {
    lines += LimitText(quantity.key(), budget.*quantity.applied, quantity.in_bytes ? "bytes" : "");
  }
  return lines.empty() ? "limits: none\n" : "limits:\n" + lines;
}

// Returns the quantities that `it` sets for a test, each with the later override that sets it, too,
// if there is one.
std::vector<std::string> EffectsOf(const Override& it, const std::vector<const Override*>& later) {
  std::vector<std::string> effects;
  const auto add = [&](std::string_view key, const auto& sets) {
    if (!sets(it)) return;
    const Override* winner = nullptr;
    for (const Override* other : later) {
      if (sets(*other)) winner = other;
    }
    effects.push_back(winner == nullptr ? fmt::format("sets {}", key)
                                        : fmt::format("loses {} to line {}", key, winner->line));
  };
  for (const AmountQuantity& quantity : kAmountQuantities) {
    add(quantity.key(), [&](const Override& o) {
      const AmountLimits& limits = o.limits.test.*quantity.limits;
      return limits.bytes || limits.blocks;
    });
  }
  for (const NumberQuantity& quantity : kNumberQuantities) {
    add(quantity.key(),
        [&](const Override& o) { return (o.limits.test.*quantity.limit).has_value(); });
  }
  add("free_by", [](const Override& o) { return o.free_by.has_value(); });
  return effects;
}

std::string ExpiryText(const std::optional<std::chrono::year_month_day>& expires) {
  return expires ? fmt::format("; until {}", DateText(*expires)) : "";
}

std::string OverridesText(const BudgetFile& file, const std::string& test,
                          std::chrono::year_month_day today) {
  std::string text;
  std::vector<const Override*> later;  // of those that apply
  for (auto it = file.overrides.rbegin(); it != file.overrides.rend(); ++it) {
    std::string state;
    if (!MatchesAllTests(it->tests, {test})) {
      state = fmt::format("does not match: {}", fmt::join(it->tests, ", "));
    } else if (HasExpired(it->expires, today)) {
      state = fmt::format("expired on {}", DateText(*it->expires));
    } else {
      const std::vector<std::string> effects = EffectsOf(*it, later);
      state = effects.empty() ? "matches, but is for suites or processes"
                              : fmt::format("{}", fmt::join(effects, ", "));
      state += ExpiryText(it->expires) + ReasonOf(it->reason);
      later.push_back(&*it);
    }
    text.insert(0, Line("  {}:{}: {}", PathText(file.path), it->line, state));
  }
  return text.empty() ? "" : "overrides:\n" + text;
}

std::string AllowancesText(const AppliedBudget& budget) {
  std::string text;
  for (const AppliedAllowance& it : budget.allowances) {
    std::vector<std::string> most;
    if (it.bytes) most.push_back(FormatCount(*it.bytes, "byte"));
    if (it.blocks) most.push_back(FormatCount(*it.blocks, "block"));
    text += Line("  {}: {}: {}{}{}", PlaceOf(it.source), fmt::join(it.stack, " < "),
                 most.empty() ? "any amount" : fmt::format("at most {}", fmt::join(most, ", ")),
                 ExpiryText(it.expires), ReasonOf(it.source.reason));
  }
  return text.empty() ? "" : "allowances:\n" + text;
}

std::string FreeByText(FreeBy free_by) {
  switch (free_by) {
    case FreeBy::kTest:
      break;
    case FreeBy::kSuite:
      return "its suite's end";
    case FreeBy::kProgram:
      return "the program's end";
  }
  return "the test's end";
}

std::string ConfirmText(const std::optional<Confirm>& confirm) {
  switch (confirm.value_or(Confirm::kAfter)) {
    case Confirm::kAfter:
      break;
    case Confirm::kInline:
      return "while the program waits";
    case Confirm::kOff:
      return "never: then they are reported, and fail nothing";
  }
  return "after the program has ended";
}

std::string PolicyText(const AppliedBudget& budget) {
  std::string text = fmt::format("judged at {}, ", FreeByText(budget.free_by));
  if (!UsesDefaultPolicy(budget)) {
    return text + "literally: what is outstanding then fails the test if it is over its limit\n";
  }
  return text + fmt::format(
                    "by default: lost blocks fail the test; retained ones fail it if they "
                    "grow\n  when it is repeated alone ({})\n",
                    ConfirmText(budget.confirm));
}

std::string ThreadsText(const AppliedBudget& budget) {
  return budget.thread_scope == ThreadScope::kTest
             ? "charged with what its own thread and those that it starts allocate\n"
             : "charged with what all threads of the process allocate meanwhile\n";
}

// Returns which processes that the test starts are judged, and by which limits.
std::string ProcessesText(const BudgetFile& file, const std::string& test,
                          std::chrono::year_month_day today) {
  std::string text;
  for (const ProcessPattern& pattern : file.processes) {
    text += Line("  {:<31}         {}:{}", pattern.glob, PathText(file.path), pattern.line);
  }
  if (text.empty()) return "";
  const AppliedBudget budget = ApplyLimits(file, {WindowKind::kProcess, {test}, today});
  return "processes that it starts, each judged at its end:\n" + text + "their " +
         LimitsText(budget);
}

// Without a binary it is unknown whether a file for certain binaries applies.
void PrintLeftOutFiles(const std::vector<BudgetFile>& files) {
  for (const BudgetFile& file : files) {
    if (file.binaries.empty()) continue;
    PrintMessage(
        fmt::format("{} is for {} only, and left out; name the binary: leakgate explain "
                    "TEST ... -- BINARY",
                    PathText(file.path), fmt::join(file.binaries, ", ")));
  }
}

}  // namespace

Expected<std::string> ExplainText(const BudgetSet& budgets, const TestId& test,
                                  std::chrono::year_month_day today) {
  LEAKGATE_TRY_ASSIGN(const AppliedBudget budget, budgets.ForTest(test));
  const std::vector<BudgetCandidate> candidates = budgets.Candidates(test);
  std::string text = Line("{}", test.name);
  if (!test.source_file.empty()) text += Line("source: {}", test.source_file);
  text += FilesText(candidates, test) + LimitsText(budget);
  if (!candidates.empty()) text += OverridesText(*candidates.front().file, test.name, today);
  text += AllowancesText(budget) + PolicyText(budget) + ThreadsText(budget);
  if (!candidates.empty()) text += ProcessesText(*candidates.front().file, test.name, today);
  for (const BudgetFile* owner : budgets.CodeOwners()) {
    text += Line("what code of {} allocates in it is charged to {}", owner->component,
                 PathText(owner->path));
  }
  return text;
}

Expected<TestId> FindTest(const std::string& name, const std::vector<TestId>& tests) {
  std::vector<std::string_view> names;
  for (const TestId& test : tests) {
    if (test.name == name) return test;
    names.push_back(test.name);
  }
  const std::optional<std::string_view> nearest = FindNearestWord(name, names);
  return UsageError(fmt::format(
      "no test '{}' in the binary; {}", name,
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "list them with --gtest_list_tests"));
}

void Declare(ExplainCommand& command, OptionList& options) {
  options.AddArgument("test", TextWord("TEST"), command.test);
  options.Add("--budgets", FileWord("FILE|DIR"), command.budgets,
              "As for leakgate run. Repeatable");
}

Expected<void> Complete(ExplainCommand& command, const ProgramLine& program) {
  if (command.test.empty()) {
    return UsageError("no test to explain; name it: leakgate explain Suite.Test --budgets DIR");
  }
  command.program = program;
  return {};
}

Expected<int> Execute(const ExplainCommand& command) {
  LEAKGATE_TRY_ASSIGN(std::vector<BudgetFile> files, LoadBudgetFiles(command.budgets));
  std::filesystem::path program;
  TestId test{command.test, ""};
  if (!command.program.empty()) {
    LEAKGATE_TRY_ASSIGN(const ListedProgram listed, ListProgram(command.program));
    LEAKGATE_TRY_ASSIGN(const TestId found, FindTest(command.test, listed.tests));
    program = listed.path;
    test = found;
  } else {
    PrintLeftOutFiles(files);
  }
  LEAKGATE_TRY_ASSIGN(const std::string text,
                      ExplainText(BudgetSet(std::move(files), program), test, Today()));
  Print(stdout, text);
  return kExitPass;
}

}  // namespace leakgate
