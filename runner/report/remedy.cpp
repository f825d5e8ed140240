#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "runner/attribution/stack_pattern.h"
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

std::string Quoted(const std::string& text) {
  constexpr bool kAsciiOnly = false;
  return nlohmann::json(text).dump(-1, ' ', kAsciiOnly, nlohmann::json::error_handler_t::replace);
}

// A limit is never negative, so a negative amount needs none.
std::string AmountJson(Amount amount) {
  std::vector<std::string> members;
  if (amount.bytes >= 0) members.push_back(fmt::format(R"("bytes": {})", amount.bytes));
  if (amount.blocks >= 0) members.push_back(fmt::format(R"("blocks": {})", amount.blocks));
  return fmt::format("{{ {} }}", fmt::join(members, ", "));
}

std::string ValueJson(const Violation& violation) {
  const bool is_number = violation.metric == "file_descriptors" || violation.metric == "threads";
  if (is_number) return std::to_string(violation.actual);
  if (violation.metric == "peak_bytes")
    return fmt::format(R"({{ "bytes": {} }})", violation.actual);
  return AmountJson(violation.amount);
}

// Returns each quantity once, with the amount that was measured.
std::string LimitsJson(const WindowResult& window) {
  std::vector<std::string> members;
  std::string_view last;
  for (const Violation& violation : window.violations) {
    const std::string_view quantity = QuantityOf(violation);
    if (quantity == last || IsByDefault(violation)) continue;
    members.push_back(fmt::format(R"("{}": {})", quantity, ValueJson(violation)));
    last = quantity;
  }
  return fmt::format(R"({{ "{}": {{ {} }} }})", Word(window.kind), fmt::join(members, ", "));
}

// Returns an allowance for each pattern of the call sites, for at most three of them.
std::string AllowancesJson(const WindowResult& window) {
  constexpr std::size_t kMostEntries = 3;
  const AppliedBudget& charged = ChargedBudget(window);
  std::vector<std::pair<std::vector<std::string>, Amount>> entries;
  for (const Finding& finding : window.findings) {
    if (!Fails(finding) || !IsChargedTo(finding, window, charged)) continue;
    std::vector<std::string> pattern = SuggestPattern(finding);
    if (pattern.empty()) continue;
    const auto known = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& entry) { return entry.first == pattern; });
    if (known != entries.end()) {
      known->second += finding.amount;
    } else if (entries.size() < kMostEntries) {
      entries.emplace_back(std::move(pattern), finding.amount);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [pattern, amount] : entries) {
    std::vector<std::string> quoted;
    for (const std::string& glob : pattern) quoted.push_back(Quoted(glob));
    texts.push_back(
        fmt::format(R"({{ "stack": [{}], "bytes": {}, "blocks": {}, "reason": "..." }})",
                    fmt::join(quoted, ", "), amount.bytes, amount.blocks));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OverrideJson(const WindowResult& window) {
  std::string pattern = window.name;
  if (window.kind == WindowKind::kSuite) pattern += ".*";
  if (window.kind == WindowKind::kProcess) pattern = window.started_by;
  return fmt::format(R"({{ "tests": [{}], "limits": {}, "reason": "..." }})", Quoted(pattern),
                     LimitsJson(window));
}

// Returns true if the window belongs to no test, so that no override can name it.
bool IsOfTheFile(const WindowResult& window) {
  if (window.kind == WindowKind::kProcess) return window.started_by.empty();
  return window.kind == WindowKind::kProgram;
}

std::string_view Section(const WindowResult& window) {
  if (AnyByDefault(window)) return "allowances";
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
  if (AnyByDefault(window)) return AllowancesJson(window);
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
