// Changes to a text that leave all other bytes alone. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/located_json.h"
#include "runner/region/amount.h"

namespace leakgate {

// Puts `replacement` in the place of [begin, end).
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string replacement;
};

// REQUIRES: edits that do not overlap; in any order.
[[nodiscard]] std::string Apply(std::vector<TextEdit> edits, std::string_view text);

// Takes elements out of a JSON array, each with one comma and the blanks beside
// it. REQUIRES: `removed` has an entry for each element.
[[nodiscard]] std::vector<TextEdit> RemoveElements(const LocatedValue& array,
                                                   const std::vector<bool>& removed);

// Tightens the text of a budget file to what a green run needed: allowances and
// overrides that nothing used vanish, numbers become smaller, never larger. All
// other bytes stay as they were, so that the difference is small. Pure.

// The most that was measured against each limit of an override, by its keys:
// "test.outstanding.bytes". What is missing was not measured, and stays.
using MeasuredMaxima = std::map<std::string, std::int64_t>;

// What a run needed of one file.
struct BudgetUsage {
  // By the line of the allowance: the most that it covered in any window.
  std::map<int, Amount> allowances;
  // By the line of the override: one that is missing matched nothing.
  std::map<int, MeasuredMaxima> overrides;
};

// What to do with what nothing used. A run of some of the tests cannot tell.
enum class UnusedEntries { kRemove, kKeep };

struct RatchetedBudget {
  std::string text;
  std::vector<std::string> changes;  // "FILE:LINE: ...", in the file's order; empty: the same text
};

// Error: `text` is no good budget file.
[[nodiscard]] Expected<RatchetedBudget> Ratchet(const std::filesystem::path& path,
                                                const std::string& text, const BudgetUsage& usage,
                                                UnusedEntries unused);

}  // namespace leakgate
