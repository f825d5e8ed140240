#include "runner/budget/ratchet.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/json_fields.h"
#include "runner/budget/located_json.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/read_limits.h"

namespace leakgate {
namespace {

constexpr std::array kScopes = {"test", "suite"};

// Returns the edits that remove elements of a JSON array. Each element goes with the comma before
// it, or, if no element before it stays, with the comma behind it.
// REQUIRES: `removed` has an entry for each element.
std::vector<TextEdit> RemoveElements(const LocatedValue& array, const std::vector<bool>& removed) {
  if (std::all_of(removed.begin(), removed.end(), [](bool it) { return it; })) {
    if (removed.empty()) return {};
    return {{.begin = array.begin + 1, .end = array.end - 1, .replacement = ""}};
  }
  std::vector<TextEdit> edits;
  bool keeps_one = false;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const LocatedValue& element = array.elements[i];
    if (!removed[i]) {
      keeps_one = true;
    } else if (keeps_one) {
      edits.push_back({array.elements[i - 1].end, element.end, ""});
    } else {
      edits.push_back({element.begin, array.elements[i + 1].begin, ""});
    }
  }
  return edits;
}

// Collects the edits of one file. REQUIRES: the values that it is given are of a valid budget file.
class Tightening {
 public:
  Tightening(const std::filesystem::path& path, const BudgetUsage& usage, UnusedEntries unused)
      : path_(path), usage_(usage), unused_(unused) {}

  void TightenAllowances(const LocatedValue& allowances) {
    std::vector<bool> removed;
    for (const LocatedValue& allowance : allowances.elements) {
      if (usage_.of_other_binaries.contains(allowance.line)) {
        removed.push_back(false);
        continue;
      }
      const auto found = usage_.allowances.find(allowance.line);
      const bool is_used = found != usage_.allowances.end() && found->second != Amount{};
      removed.push_back(NoteIfUnused(allowance, "allowance", is_used));
      if (!is_used) continue;
      Lower(allowance.Find("bytes"), "allowance: bytes", found->second.bytes);
      Lower(allowance.Find("blocks"), "allowance: blocks", found->second.blocks);
    }
    Add(RemoveElements(allowances, removed));
  }

  void TightenOverrides(const LocatedValue& overrides) {
    std::vector<bool> removed;
    for (const LocatedValue& it : overrides.elements) {
      const auto found = usage_.overrides.find(it.line);
      const bool is_used = found != usage_.overrides.end();
      removed.push_back(NoteIfUnused(it, "override", is_used));
      if (is_used) TightenLimits(it.Find("limits"), found->second);
    }
    Add(RemoveElements(overrides, removed));
  }

  RatchetedBudget Finish(const std::string& text) && {
    return {ApplyEdits(std::move(edits_), text), std::move(changes_)};
  }

 private:
  // Returns whether the entry must be removed, and notes the change.
  bool NoteIfUnused(const LocatedValue& entry, std::string_view what, bool is_used) {
    if (is_used || unused_ == UnusedEntries::kKeep) return false;
    changes_.push_back(
        fmt::format("{}:{}: {} removed: nothing used it", PathText(path_), entry.line, what));
    return true;
  }

  void TightenLimits(const LocatedValue* limits, const MeasuredMaxima& maxima) {
    if (limits == nullptr) return;
    for (const char* scope : kScopes) {
      const LocatedValue* const window = limits->Find(scope);
      if (window != nullptr) TightenWindow(*window, scope, maxima);
    }
  }

  // The value of a quantity is a number, or an object of numbers.
  void TightenWindow(const LocatedValue& window, std::string_view scope,
                     const MeasuredMaxima& maxima) {
    for (const LocatedMember& quantity : window.members) {
      const std::string keys = fmt::format("{}.{}", scope, quantity.key);
      LowerTo(quantity.value, keys, maxima);
      for (const LocatedMember& number : quantity.value.members) {
        LowerTo(number.value, fmt::format("{}.{}", keys, number.key), maxima);
      }
    }
  }

  void LowerTo(const LocatedValue& limit, const std::string& keys, const MeasuredMaxima& maxima) {
    if (const auto most = maxima.find(keys); most != maxima.end()) {
      Lower(&limit, "override: " + keys, most->second);
    }
  }

  // Replaces a limit that is larger than `needed`. A size with a unit becomes plain bytes. If no
  // limit is set, `limit` is nullptr.
  void Lower(const LocatedValue* limit, std::string_view what, std::int64_t needed) {
    if (limit == nullptr) return;
    const Expected<Limit> now = ReadBytes(*limit, {path_, ""});
    if (!now || now->value <= needed) return;
    edits_.push_back({limit->begin, limit->end, fmt::format("{}", needed)});
    changes_.push_back(
        fmt::format("{}:{}: {}: {} -> {}", PathText(path_), limit->line, what, now->value, needed));
  }

  void Add(std::vector<TextEdit> edits) {
    for (TextEdit& edit : edits) edits_.push_back(std::move(edit));
  }

  const std::filesystem::path& path_;
  const BudgetUsage& usage_;
  UnusedEntries unused_;
  std::vector<TextEdit> edits_;
  std::vector<std::string> changes_;
};

}  // namespace

std::string ApplyEdits(std::vector<TextEdit> edits, std::string_view text) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string edited;
  std::size_t done = 0;
  for (const TextEdit& edit : edits) {
    edited.append(text.substr(done, edit.begin - done)).append(edit.replacement);
    done = edit.end;
  }
  return edited.append(text.substr(done));
}

Expected<RatchetedBudget> Ratchet(const std::filesystem::path& path, const std::string& text,
                                  const BudgetUsage& usage, UnusedEntries unused) {
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const BudgetFile file, ParseBudgetFile(path, text));
  LEAKGATE_TRY_ASSIGN(const LocatedValue json, ParseLocatedJson(path, text));

  Tightening tightening(path, usage, unused);
  for (const LocatedMember& member : json.members) {
    if (member.key == "overrides") tightening.TightenOverrides(member.value);
    if (member.key == "allowances") tightening.TightenAllowances(member.value);
  }
  return std::move(tightening).Finish(text);
}

}  // namespace leakgate
