// Changes to a text that leave all other bytes alone. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/located_json.h"

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

}  // namespace leakgate
