// Tables of enumerators and the words for them, searched in both directions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace leakgate {

template <typename Enum>
struct Named {
  Enum value;
  const char* word;
};
template <typename Enum>
Named(Enum, const char*) -> Named<Enum>;

// Returns the word for `value`; the first word of the table for a value that no enumerator has.
template <typename Enum, std::size_t count>
const char* WordIn(const std::array<Named<Enum>, count>& table, Enum value) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Named<Enum>& named) { return named.value == value; });
  return found == table.end() ? table.front().word : found->word;
}

// Returns the enumerator that `word` stands for; nothing if the table has no such word.
template <typename Enum, std::size_t count>
std::optional<Enum> ValueIn(const std::array<Named<Enum>, count>& table, std::string_view word) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Named<Enum>& named) { return named.word == word; });
  return found == table.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace leakgate
