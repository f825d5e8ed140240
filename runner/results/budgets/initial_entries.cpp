#include "runner/results/budgets/initial_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/attribution/suggested_pattern.h"
#include "runner/budget/wording.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// Returns whether the finding needs an allowance: by the default policy, only what may fail does. A
// file's limit counts whatever was open at the window's end.
bool AsksForAllowance(const WindowResult& window, const Finding& finding) {
  const bool is_by_default =
      std::all_of(window.violations.begin(), window.violations.end(),
                  [](const Violation& it) { return it.limit.source.file.empty(); });
  if (is_by_default) return NeedsEntry(finding);
  return IsUsers(finding) && finding.disposition != Disposition::kAllowed &&
         finding.disposition != Disposition::kOtherThread &&
         finding.disposition != Disposition::kKnown;
}

// What main loses has no pattern that would not match all that the tests lose.
bool IsLimitedForProgram(const WindowResult& window, const Finding& finding) {
  return window.kind == WindowKind::kProgram && IsOfEveryTest(finding);
}

void AddReason(const std::string& reason, InitialEntry& entry) {
  std::string& reasons = entry.allowance.source.reason;
  if (reasons.find(reason) != std::string::npos) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

void RaiseTo(const Amount& amount, Amount& most) {
  most.bytes = std::max(most.bytes, amount.bytes);
  most.blocks = std::max(most.blocks, amount.blocks);
}

// Returns "All/Many.Keeps/*" for "All/Many.Keeps/7", and "Typed/*.Keeps" for "Typed/1.Keeps".
std::string TestFilter(const std::string& name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::string suite = name.substr(0, dot);
  const std::size_t number = suite.find_last_not_of("0123456789");
  const bool is_typed =
      number != std::string::npos && number + 1 < suite.size() && suite[number] == '/';
  if (is_typed) suite.erase(number + 1).push_back('*');
  const std::size_t value = std::min(name.find('/', dot), name.size());
  return LiteralFilter(suite) + LiteralFilter(name.substr(dot, value - dot)) +
         (value == name.size() ? "" : "/*");
}

}  // namespace

std::string LiteralFilter(std::string name) {
  // A colon or a dash means something in a filter.
  std::replace(name.begin(), name.end(), ':', '?');
  std::replace(name.begin(), name.end(), '-', '?');
  return name;
}

std::string FilterOf(const WindowResult& window) {
  switch (window.kind) {
    case WindowKind::kTest:
      return TestFilter(window.name);
    case WindowKind::kSuite:
      return LiteralFilter(window.name) + ".*";
    case WindowKind::kProcess:
      return TestFilter(window.started_by);
    case WindowKind::kProgram:
      break;
  }
  return "";
}

InitialEntries::InitialEntries(std::vector<const WindowResult*> failing, EntryScope scope,
                               const ReasonOf& reason_of)
    : failing_(std::move(failing)), scope_(scope) {
  for (const WindowResult* const window : failing_) {
    AddEntries(*window, window->findings, reason_of);
    AddEntries(*window, window->mappings, reason_of);
  }
  do Replay();
  while (RemoveUnneeded());
}

std::vector<std::string> InitialEntries::StillFailing() const {
  std::vector<std::string> lines = without_pattern_;
  for (const WindowResult* const window : failing_) {
    if (CountNewFreeErrors(*window) == 0) continue;
    lines.push_back(fmt::format("{} still fails: no entry allows its freeing errors; mend them",
                                WindowName(*window)));
  }
  return lines;
}

void InitialEntries::AddEntries(const WindowResult& window, const std::vector<Finding>& findings,
                                const ReasonOf& reason_of) {
  for (const Finding& finding : findings) {
    if (!NeedsEntry(finding)) continue;
    if (IsLimitedForProgram(window, finding)) {
      lost_by_program_ += finding.amount;
      continue;
    }
    const std::vector<std::string> pattern = SuggestPattern(finding);
    if (pattern.empty()) {
      without_pattern_.push_back(fmt::format(
          "{} still fails: {} of {} cannot be allowed, as no function of its call stack is known; "
          "build the program with symbols",
          WindowName(window), FormatAmount(finding.amount), DescribeCallSite(finding)));
      continue;
    }
    const bool is_restricted = scope_ == EntryScope::kSeenTests || IsOfEveryTest(finding);
    AddReason(reason_of(window, finding), AddEntry(pattern, is_restricted ? FilterOf(window) : ""));
  }
}

// Of seen tests, a pattern has one entry. Otherwise it has one for each restriction.
InitialEntry& InitialEntries::AddEntry(const std::vector<std::string>& pattern,
                                       const std::string& filter) {
  const std::vector<std::string> tests =
      filter.empty() ? std::vector<std::string>() : std::vector<std::string>{filter};
  for (InitialEntry& entry : entries_) {
    if (entry.allowance.stack != pattern) continue;
    if (entry.tests == tests) return entry;
    if (scope_ != EntryScope::kSeenTests) continue;
    const auto place = std::lower_bound(entry.tests.begin(), entry.tests.end(), filter);
    if (place == entry.tests.end() || *place != filter) entry.tests.insert(place, filter);
    return entry;
  }
  InitialEntry entry;
  entry.allowance.stack = pattern;
  entry.tests = tests;
  return entries_.emplace_back(std::move(entry));
}

// Gives each finding to the entry that would take it, and sums up what each entry needs.
void InitialEntries::Replay() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].allowance.source.line = static_cast<int>(i);
    entries_[i].most = {};
    entries_[i].needed.clear();
  }
  for (const WindowResult* const window : failing_) {
    Replay(*window, window->findings);
    Replay(*window, window->mappings);
  }
}

void InitialEntries::Replay(const WindowResult& window, const std::vector<Finding>& findings) {
  struct Taken {
    Amount amount;
    bool is_needed = false;
  };
  const std::string filter = FilterOf(window);
  std::vector<AppliedAllowance> applied;
  for (const InitialEntry& entry : entries_) {
    const bool applies =
        entry.tests.empty() || std::binary_search(entry.tests.begin(), entry.tests.end(), filter);
    if (applies) applied.push_back(entry.allowance);
  }
  std::map<std::size_t, Taken> taken;
  for (const Finding& finding : findings) {
    if (!AsksForAllowance(window, finding) || IsLimitedForProgram(window, finding)) continue;
    const std::vector<const AppliedAllowance*> matching = FindAllowances(applied, finding);
    if (matching.empty()) continue;
    Taken& by_entry = taken[static_cast<std::size_t>(matching.front()->source.line)];
    by_entry.amount += finding.amount;
    by_entry.is_needed |= NeedsEntry(finding);
  }
  for (const auto& [entry, by_entry] : taken) {
    RaiseTo(by_entry.amount, entries_[entry].most);
    if (by_entry.is_needed) RaiseTo(by_entry.amount, entries_[entry].needed[filter]);
  }
}

// Removes entries that take nothing which fails. Returns whether there were any.
bool InitialEntries::RemoveUnneeded() {
  return std::erase_if(entries_, [](const InitialEntry& it) { return it.needed.empty(); }) != 0;
}

std::string JsonList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string EntryText(const InitialEntry& entry) {
  const std::string tests =
      entry.tests.empty() ? "" : fmt::format("\n      \"tests\": {},", JsonList(entry.tests));
  return fmt::format(R"(
    {{
      "stack": {},{}
      "bytes": {},
      "blocks": {},
      "reason": {}
    }})",
                     JsonList(entry.allowance.stack), tests, entry.most.bytes, entry.most.blocks,
                     Quoted(entry.allowance.source.reason));
}

}  // namespace leakgate
