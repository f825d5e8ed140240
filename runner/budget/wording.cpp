#include "runner/budget/wording.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace leakgate {
namespace {

// Letters to insert, delete or replace to turn one word into the other.
std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string QuotedList(const std::vector<std::string_view>& words, std::string_view conjunction) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && i + 1 < words.size()) list += ", ";
    if (i > 0 && i + 1 == words.size()) list.append(" ").append(conjunction).append(" ");
    list += Quoted(words[i]);
  }
  return list;
}

std::optional<std::string_view> Nearest(std::string_view typed,
                                        const std::vector<std::string_view>& words) {
  constexpr std::size_t kMostEdits = 2;
  std::optional<std::string_view> nearest;
  std::size_t fewest_edits = std::min(kMostEdits + 1, (typed.size() + 1) / 2);
  for (const std::string_view word : words) {
    if (word.size() > typed.size() + kMostEdits) continue;
    if (typed.size() > word.size() + kMostEdits) continue;
    const std::size_t edits = EditDistance(typed, word);
    if (edits >= fewest_edits) continue;
    nearest = word;
    fewest_edits = edits;
  }
  return nearest;
}

}  // namespace leakgate
