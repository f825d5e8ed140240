#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runner/attribution/suggested_pattern.h"
#include "runner/budget/wording.h"
#include "runner/report/excess.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

// Returns true if the limit is the default policy's, so that no file has one that could be raised.
bool IsByDefault(const Violation& violation) { return violation.limit.source.file.empty(); }

const Violation* FirstByDefault(const WindowResult& window) {
  const auto first = std::find_if(window.violations.begin(), window.violations.end(), IsByDefault);
  return first == window.violations.end() ? nullptr : &*first;
}

bool AnyByDefault(const WindowResult& window) { return FirstByDefault(window) != nullptr; }

bool IsOfDescriptors(const Violation& violation) {
  return IsOf(violation, Quantity::kFileDescriptors) ||
         IsOf(violation, Quantity::kSteadyFileDescriptors);
}

// They have no call stack that an allowance could name, so a limit has to permit them.
bool AreAllOfDescriptors(const WindowResult& window) {
  return !window.violations.empty() &&
         std::all_of(window.violations.begin(), window.violations.end(), IsOfDescriptors);
}

// Returns the budget of the component that is charged: its file takes the entry.
const AppliedBudget& ChargedBudget(const WindowResult& window) {
  const Violation* const violation = FirstByDefault(window);
  if (violation == nullptr) return *window.budget;
  for (const auto& budget : window.code_budgets) {
    if (budget->component == violation->component) return *budget;
  }
  return *window.budget;
}

bool IsChargedTo(const Finding& finding, const WindowResult& window, const AppliedBudget& budget) {
  if (&budget == window.budget.get() && finding.component.empty()) return true;
  return finding.component == budget.component;
}

bool Fails(const Finding& finding) {
  if (finding.disposition == Disposition::kSteady) return true;
  return finding.disposition == Disposition::kOutstanding && IsUsers(finding) &&
         IsLost(finding.reach);
}

// A limit is never negative, so a negative amount needs none.
std::string AmountJson(Amount amount) {
  std::vector<std::string> members;
  if (amount.bytes >= 0) members.push_back(fmt::format(R"("bytes": {})", amount.bytes));
  if (amount.blocks >= 0) members.push_back(fmt::format(R"("blocks": {})", amount.blocks));
  return fmt::format("{{ {} }}", fmt::join(members, ", "));
}

std::string ValueJson(const Violation& violation) {
  const bool is_number = QuantityOf(violation) == Quantity::kThreads || IsOfDescriptors(violation);
  if (is_number) return std::to_string(violation.actual);
  if (violation.metric == Metric::kPeakBytes)
    return fmt::format(R"({{ "bytes": {} }})", violation.actual);
  return AmountJson(violation.amount);
}

// Returns true if the window belongs to no test, so that no override can name it.
bool IsOfTheFile(const WindowResult& window) {
  if (window.kind == WindowKind::kProcess) return window.started_by.empty();
  return window.kind == WindowKind::kProgram;
}

// What main itself loses: an allowance for main would match all that the tests lose.
bool IsLostByMain(const WindowResult& window) {
  return AnyByDefault(window) && IsOfTheFile(window) &&
         std::all_of(window.findings.begin(), window.findings.end(), [](const Finding& finding) {
           return !Fails(finding) || IsOfEveryTest(finding);
         });
}

// Each quantity once, as it was measured.
std::string LimitsJson(const WindowResult& window) {
  std::vector<std::string> members;
  std::optional<Quantity> last;
  for (const Violation& violation : window.violations) {
    const Quantity quantity = QuantityOf(violation);
    const bool is_left_out =
        IsByDefault(violation) && !IsLostByMain(window) && !AreAllOfDescriptors(window);
    if (quantity == last || is_left_out) continue;
    members.push_back(fmt::format(
        R"("{}": {})", Word(IsOfDescriptors(violation) ? Quantity::kFileDescriptors : quantity),
        ValueJson(violation)));
    last = quantity;
  }
  return fmt::format(R"({{ "{}": {{ {} }} }})", Word(window.kind), fmt::join(members, ", "));
}

std::string TestFilter(const WindowResult& window) {
  if (window.kind == WindowKind::kSuite) return window.name + ".*";
  return window.kind == WindowKind::kProcess ? window.started_by : window.name;
}

// One for each pattern that the finding's call sites have, for three of them.
std::string AllowancesJson(const WindowResult& window) {
  constexpr std::size_t kMostEntries = 3;
  const AppliedBudget& charged = ChargedBudget(window);
  struct Entry {
    std::vector<std::string> pattern;
    bool is_of_every_test = false;
    Amount blocks;
    Amount mappings;

    // An allowance permits as much of both.
    Amount Most() const {
      return {std::max(blocks.bytes, mappings.bytes), std::max(blocks.blocks, mappings.blocks)};
    }
  };
  std::vector<Entry> entries;
  const auto add = [&](const Finding& finding) {
    if (!Fails(finding) || !IsChargedTo(finding, window, charged)) return;
    if (IsOfTheFile(window) && IsOfEveryTest(finding)) return;
    std::vector<std::string> pattern = SuggestPattern(finding);
    if (pattern.empty()) return;
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const Entry& known) { return known.pattern == pattern; });
    if (entry == entries.end()) {
      if (entries.size() == kMostEntries) return;
      entry = entries.insert(entry, {std::move(pattern), IsOfEveryTest(finding), {}, {}});
    }
    (IsMapped(finding) ? entry->mappings : entry->blocks) += finding.amount;
  };
  std::for_each(window.findings.begin(), window.findings.end(), add);
  for (const Finding& finding : window.mappings) {
    if (finding.disposition == Disposition::kSteady) add(finding);
  }
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    const Amount amount = entry.Most();
    const std::string tests = entry.is_of_every_test && !IsOfTheFile(window)
                                  ? fmt::format(R"("tests": [{}], )", Quoted(TestFilter(window)))
                                  : "";
    std::vector<std::string> quoted;
    for (const std::string& glob : entry.pattern) quoted.push_back(Quoted(glob));
    texts.push_back(
        fmt::format(R"({{ "stack": [{}], {}"bytes": {}, "blocks": {}, "reason": "..." }})",
                    fmt::join(quoted, ", "), tests, amount.bytes, amount.blocks));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OverrideJson(const WindowResult& window) {
  return fmt::format(R"({{ "tests": [{}], "limits": {}, "reason": "..." }})",
                     Quoted(TestFilter(window)), LimitsJson(window));
}

bool TakesAllowances(const WindowResult& window) {
  return AnyByDefault(window) && !IsLostByMain(window) && !AreAllOfDescriptors(window);
}

std::string_view Section(const WindowResult& window) {
  if (TakesAllowances(window)) return "allowances";
  return IsOfTheFile(window) ? "limits" : "overrides";
}

// Returns the budget file that takes the entry, or an empty text if it is not known.
std::string BudgetFileOf(const WindowResult& window) {
  if (AnyByDefault(window)) return ChargedBudget(window).file;
  for (const Violation& violation : window.violations) {
    if (!violation.limit.source.file.empty()) return violation.limit.source.file;
  }
  return window.budget->file;
}

bool IsCovered(const WindowResult& window) {
  return !ChargedBudget(window).component.empty() || !BudgetFileOf(window).empty();
}

std::string Place(const WindowResult& window) {
  if (!IsCovered(window)) return "a new NAME.leakgate.json";
  const std::string file = BudgetFileOf(window);
  return fmt::format("\"{}\" of {}", Section(window),
                     file.empty() ? ChargedBudget(window).component + "'s budget file" : file);
}

std::string EntryJson(const WindowResult& window) {
  if (TakesAllowances(window)) return AllowancesJson(window);
  return IsOfTheFile(window) ? LimitsJson(window) : OverrideJson(window);
}

}  // namespace

std::string RemedyJson(const WindowResult& window) {
  const std::string entry = EntryJson(window);
  if (IsCovered(window)) return entry;
  const bool is_list = Section(window) != "limits";
  return fmt::format(R"({{ "component": "...", "{}": {} }})", Section(window),
                     is_list ? "[" + entry + "]" : entry);
}

std::string RemedyText(const WindowResult& window) {
  if (window.violations.empty()) return "fix it: no budget allows this";
  if (EntryJson(window).empty()) return "fix it: nothing is known of its call stack to allow it by";
  return fmt::format("fix it, or allow it in {}: {}", Place(window), RemedyJson(window));
}

}  // namespace leakgate
