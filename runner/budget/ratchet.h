// Tightens the text of a budget file to what a successful run needed: unused allowances and
// overrides are removed, and numbers become smaller, never larger. All other bytes stay the same,
// so that the difference is small. All functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/located_json.h"
#include "runner/region/amount.h"

namespace leakgate {

// Replaces the bytes [begin, end) of a text.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string replacement;
};

// Applies edits, which may be in any order. REQUIRES: the edits do not overlap.
[[nodiscard]] std::string ApplyEdits(std::vector<TextEdit> edits, std::string_view text);

// The largest values that were measured against the limits of an override, by the limits' keys,
// such as "test.outstanding.bytes". A limit whose key is missing was not measured, and stays.
using MeasuredMaxima = std::map<std::string, std::int64_t>;

// What a run has used of one budget file. The keys are the lines of the entries.
struct BudgetUsage {
  std::map<int, Amount> allowances;         // the most that each covered in any window
  std::map<int, MeasuredMaxima> overrides;  // an override that matched nothing is missing
  // Allowances for tests that the binary does not have, besides others or alone: another binary may
  // need them, so they stay as they are.
  std::set<int> of_other_binaries;
};

// Whether to remove entries that nothing used. A run of only some tests cannot know which those
// are.
enum class UnusedEntries { kRemove, kKeep };

struct RatchetedBudget {
  std::string text;
  std::vector<std::string> changes;  // "FILE:LINE: ...", in the file's order; empty: no change
};

// Fails if `text` is not a valid budget file.
[[nodiscard]] Expected<RatchetedBudget> Ratchet(const std::filesystem::path& path,
                                                const std::string& text, const BudgetUsage& usage,
                                                UnusedEntries unused);

}  // namespace leakgate
