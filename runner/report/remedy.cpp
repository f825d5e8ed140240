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

bool AnyByDefault(const WindowResult& window) {
  return std::any_of(window.violations.begin(), window.violations.end(), IsByDefault);
}

bool IsOfDescriptors(const Violation& violation) {
  return IsOf(violation, Quantity::kFileDescriptors) ||
         IsOf(violation, Quantity::kSteadyFileDescriptors);
}

bool IsChargedTo(const Finding& finding, const WindowResult& window, const AppliedBudget& budget) {
  if (&budget == window.budget.get() && finding.component.empty()) return true;
  return finding.component == budget.component;
}

bool HasUnconfirmedDescriptors(const WindowResult& window) {
  return window.verdict == Verdict::kUnconfirmed &&
         window.descriptor_growth == DescriptorGrowth::kUnconfirmed;
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
           return !NeedsEntry(finding) || IsOfEveryTest(finding);
         });
}

// Some of what the window itself lost is of code without names, such as code that is made as the
// program runs.
bool HasNamelessLoss(const WindowResult& window) {
  return std::any_of(window.findings.begin(), window.findings.end(), [&](const Finding& finding) {
    return MakesFail(finding) && IsLost(finding.reach) &&
           IsChargedTo(finding, window, *window.budget) && SuggestPattern(finding).empty();
  });
}

// Returns whether a limit has to permit it: a file's, or of what has no call stack that an
// allowance could name.
bool IsByLimit(const WindowResult& window, const Violation& violation) {
  return !IsByDefault(violation) || IsOfDescriptors(violation) || IsLostByMain(window) ||
         (IsOf(violation, Quantity::kLost) && violation.component == window.budget->component &&
          HasNamelessLoss(window));
}

// Each quantity once, as it was measured; an empty text if no limit has to permit anything.
std::string LimitsJson(const WindowResult& window) {
  std::vector<std::string> members;
  std::optional<Quantity> last;
  const auto add = [&](Quantity quantity, const std::string& value) {
    members.push_back(fmt::format(R"("{}": {})", Word(quantity), value));
  };
  for (const Violation& violation : window.violations) {
    const Quantity quantity = QuantityOf(violation);
    if (quantity == last || !IsByLimit(window, violation)) continue;
    add(IsOfDescriptors(violation) ? Quantity::kFileDescriptors : quantity, ValueJson(violation));
    last = quantity;
  }
  if (HasUnconfirmedDescriptors(window)) {
    add(Quantity::kFileDescriptors, std::to_string(window.file_descriptors.value_or(1)));
  }
  if (members.empty()) return "";
  return fmt::format(R"({{ "{}": {{ {} }} }})", Word(window.kind), fmt::join(members, ", "));
}

std::string TestFilter(const WindowResult& window) {
  if (window.kind == WindowKind::kSuite) return window.name + ".*";
  return window.kind == WindowKind::kProcess ? window.started_by.get() : window.name;
}

// One for each pattern that the call sites have, all of them: fewer would leave the test failing.
std::vector<std::string> AllowanceTexts(const WindowResult& window, const AppliedBudget& charged) {
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
  const bool is_loss_by_limit = &charged == window.budget.get() && HasNamelessLoss(window);
  const auto add = [&](const Finding& finding) {
    if (!NeedsEntry(finding) || !IsChargedTo(finding, window, charged)) return;
    if (is_loss_by_limit && IsLost(finding.reach)) return;
    if (IsOfTheFile(window) && IsOfEveryTest(finding)) return;
    std::vector<std::string> pattern = SuggestPattern(finding);
    if (pattern.empty()) return;
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const Entry& known) { return known.pattern == pattern; });
    if (entry == entries.end()) {
      entry = entries.insert(entry, {std::move(pattern), IsOfEveryTest(finding), {}, {}});
    }
    (IsMapped(finding) ? entry->mappings : entry->blocks) += finding.amount;
  };
  std::for_each(window.findings.begin(), window.findings.end(), add);
  for (const Finding& finding : window.mappings) {
    if (finding.disposition != Disposition::kOutstanding) add(finding);
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
  return texts;
}

std::string OverrideJson(const WindowResult& window, const std::string& limits) {
  return fmt::format(R"({{ "tests": [{}], "limits": {}, "reason": "..." }})",
                     Quoted(TestFilter(window)), limits);
}

// Returns whether the default policy fails something, or would, that has call stacks to allow it
// by.
bool TakesAllowances(const WindowResult& window) {
  const bool is_unconfirmed = window.verdict == Verdict::kUnconfirmed && window.violations.empty();
  return is_unconfirmed || (AnyByDefault(window) && !IsLostByMain(window));
}

// What goes into one list, or the limits, of a budget file.
struct FileSection {
  std::string_view name;
  std::string text;
  const AppliedBudget* budget = nullptr;  // of the file's component
  std::string file;                       // empty: not known, or there is none
  std::size_t entries = 1;
};

// Returns the file of the limits that are raised.
std::string LimitsFile(const WindowResult& window) {
  for (const Violation& violation : window.violations) {
    if (!violation.limit.source.file.empty()) return violation.limit.source.file;
  }
  return window.budget->file;
}

std::vector<FileSection> SectionsOf(const WindowResult& window) {
  std::vector<FileSection> sections;
  const auto add_allowances = [&](const AppliedBudget& budget) {
    const std::vector<std::string> texts = AllowanceTexts(window, budget);
    if (texts.empty()) return;
    sections.push_back({"allowances", fmt::format("{}", fmt::join(texts, ", ")), &budget,
                        budget.file, texts.size()});
  };
  if (TakesAllowances(window)) {
    add_allowances(*window.budget);
    for (const auto& budget : window.code_budgets) add_allowances(*budget);
  }
  const std::string limits = LimitsJson(window);
  if (limits.empty()) return sections;
  const bool is_of_file = IsOfTheFile(window);
  sections.push_back({is_of_file ? "limits" : "overrides",
                      is_of_file ? limits : OverrideJson(window, limits), window.budget.get(),
                      LimitsFile(window)});
  return sections;
}

bool IsCovered(const FileSection& section) {
  return !section.budget->component.empty() || !section.file.empty();
}

std::string Place(const FileSection& section) {
  return fmt::format(
      "\"{}\" of {}", section.name,
      section.file.empty() ? section.budget->component + "'s budget file" : section.file);
}

// Returns a file that has those sections.
std::string WholeFile(const std::vector<FileSection>& sections) {
  std::string text = R"({ "component": "...")";
  for (const FileSection& section : sections) {
    text += fmt::format(R"(, "{}": {})", section.name,
                        section.name == "limits" ? section.text : "[" + section.text + "]");
  }
  return text + " }";
}

// Of more entries, no line of text is a good place.
constexpr std::size_t kMostEntries = 12;

std::vector<BudgetEntry> EntriesOf(std::vector<FileSection> sections) {
  std::vector<BudgetEntry> entries;
  std::vector<FileSection> uncovered;
  for (FileSection& section : sections) {
    if (IsCovered(section)) {
      entries.push_back({Place(section), section.text});
    } else {
      uncovered.push_back(std::move(section));
    }
  }
  if (!uncovered.empty()) entries.push_back({"a new NAME.leakgate.json", WholeFile(uncovered)});
  return entries;
}

// Returns "allow it in PLACE: ENTRY"; an empty text if no entry can.
std::string EntryText(const WindowResult& window) {
  std::vector<FileSection> sections = SectionsOf(window);
  std::size_t count = 0;
  for (const FileSection& section : sections) count += section.entries;
  if (count > kMostEntries) {
    return fmt::format("allow it by {} entries, which leakgate budget init writes", count);
  }
  std::vector<std::string> places;
  for (const BudgetEntry& entry : EntriesOf(std::move(sections))) {
    places.push_back(fmt::format("in {}: {}", entry.place, entry.json));
  }
  if (places.empty()) return "";
  return fmt::format("allow it {}", fmt::join(places, "; and "));
}

}  // namespace

bool NeedsEntry(const Finding& finding) {
  return MakesFail(finding) || finding.disposition == Disposition::kUnconfirmed;
}

std::vector<BudgetEntry> EntriesFor(const WindowResult& window) {
  return EntriesOf(SectionsOf(window));
}

std::string RemedyJson(const WindowResult& window) {
  const std::vector<BudgetEntry> entries = EntriesFor(window);
  return entries.empty() ? "" : entries.front().json;
}

std::string RemedyText(const WindowResult& window) {
  const bool is_unconfirmed = window.verdict == Verdict::kUnconfirmed;
  if (window.violations.empty() && !is_unconfirmed) return "fix it: no budget allows this";
  const std::string entry = EntryText(window);
  if (is_unconfirmed) {
    return "free it in the test, or give its repetitions more time (--confirm-test-timeout, "
           "--confirm-run-timeout)" +
           (entry.empty() ? "" : ", or " + entry);
  }
  if (entry.empty()) return "fix it: nothing is known of its call stack to allow it by";
  return "fix it, or " + entry;
}

}  // namespace leakgate
