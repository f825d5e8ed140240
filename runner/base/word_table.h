// Words for enumerators. An enum that has words specialises WordTable, beside the enum or in a
// header of words; Word and FromWord then work for it:
//
//   template <>
//   struct WordTable<Confirm> {
//     static constexpr std::array kWords = {Named{Confirm::kAfter, "after"}, ...};
//   };
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

// The first word of a table also stands for a value that no enumerator has, so it is the most
// cautious one.
template <typename Enum>
struct WordTable;

template <typename Enum>
concept HasWords = requires {
  WordTable<Enum>::kWords;
};

// Returns the word for `value`; the first word of the table for a value that no enumerator has.
template <typename Enum, std::size_t count>
constexpr const char* WordIn(const std::array<Named<Enum>, count>& table, Enum value) {
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

template <HasWords Enum>
[[nodiscard]] constexpr const char* Word(Enum value) {
  return WordIn(WordTable<Enum>::kWords, value);
}

template <HasWords Enum>
[[nodiscard]] std::optional<Enum> FromWord(std::string_view word) {
  return ValueIn(WordTable<Enum>::kWords, word);
}

}  // namespace leakgate
