// Reads plain types from located JSON. All errors are usage errors of the form
// "FILE:LINE:COLUMN: KEYS: problem; remedy".
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/base/word_table.h"
#include "runner/budget/located_json.h"

namespace leakgate {

// The place of a value in a file, for messages.
struct JsonPlace {
  const std::filesystem::path& file;  // must outlive the place
  std::string keys;  // such as "overrides[0].limits.test"; empty for the outermost value
  // Where errors are collected, so that reading continues; nullptr: the first one ends it.
  std::vector<Error>* errors = nullptr;

  [[nodiscard]] JsonPlace Member(std::string_view key) const;
  [[nodiscard]] JsonPlace Element(std::size_t index) const;

  // Collects an error and returns nothing, so that the next value is read, or else returns the
  // error.
  [[nodiscard]] Expected<void> Keep(Error error) const;

  // The error about the value that stands here, or about the key of the member that stands here.
  [[nodiscard]] Unexpected ErrorAt(const LocatedValue& value, std::string_view problem) const;
  [[nodiscard]] Unexpected ErrorAt(const LocatedMember& member, std::string_view problem) const;
};

// A key that an object may have, and the function that reads its value.
struct JsonField {
  std::string_view key;
  std::function<Expected<void>(const LocatedValue&, const JsonPlace&)> read;
  // The text that the message about a missing key proposes; empty: the key is optional.
  std::string_view add_if_missing = {};
};

// The parameter `example` below is a good value, which messages show.

// Reads the members of an object in the order of the file. Fails on a key that is not among
// `fields`, and if a required key is missing.
[[nodiscard]] Expected<void> ReadObject(const LocatedValue& value, const JsonPlace& place,
                                        const std::vector<JsonField>& fields,
                                        std::string_view example);

// Like ReadObject, but also fails if the object has no member.
[[nodiscard]] Expected<void> ReadNonEmptyObject(const LocatedValue& value, const JsonPlace& place,
                                                const std::vector<JsonField>& fields,
                                                std::string_view example);

// Reads a string. Fails if it is empty or blank.
[[nodiscard]] Expected<std::string> ReadText(const LocatedValue& value, const JsonPlace& place,
                                             std::string_view example);

// Reads a list of such strings. Fails if it is empty.
[[nodiscard]] Expected<std::vector<std::string>> ReadTexts(const LocatedValue& value,
                                                           const JsonPlace& place,
                                                           std::string_view example);

// Reads true or false.
[[nodiscard]] Expected<bool> ReadYesOrNo(const LocatedValue& value, const JsonPlace& place);

// The error that a value has the wrong type. `wanted` is the right one, such as "a string".
[[nodiscard]] Unexpected WrongType(const LocatedValue& value, const JsonPlace& place,
                                   std::string_view wanted, std::string_view example);

// The error that a value is not one of `words`, which are all that may stand there.
[[nodiscard]] Unexpected UnknownWord(const LocatedValue& value, const JsonPlace& place,
                                     const std::vector<std::string_view>& words);

// Reads a word, and returns the enumerator that it stands for.
template <HasWords Enum>
[[nodiscard]] Expected<Enum> ReadWord(const LocatedValue& value, const JsonPlace& place) {
  const std::optional<Enum> found =
      value.kind == JsonKind::kString ? FromWord<Enum>(value.text) : std::nullopt;
  if (found) return *found;
  std::vector<std::string_view> words;
  for (const auto& named : WordTable<Enum>::kWords) words.emplace_back(named.word);
  return UnknownWord(value, place, words);
}

// Makes a JsonField::read that stores the result of `read` in `target`. `more` are further
// arguments of `read`, such as the example for ReadText.
template <typename Target, typename Value, typename... More>
auto Into(Target& target, Expected<Value> (*read)(const LocatedValue&, const JsonPlace&, More...),
          More... more) {
  return [&target, read, more...](const LocatedValue& value,
                                  const JsonPlace& place) -> Expected<void> {
    LEAKGATE_TRY_ASSIGN(Value result, read(value, place, more...));
    target = std::move(result);
    return {};
  };
}

// Reads a list, each element by `read`. The list may be empty.
template <typename Value>
Expected<std::vector<Value>> ReadList(const LocatedValue& value, const JsonPlace& place,
                                      Expected<Value> (*read)(const LocatedValue&,
                                                              const JsonPlace&),
                                      std::string_view example) {
  if (value.kind != JsonKind::kArray) {
    return WrongType(value, place, "an array of objects", example);
  }
  std::vector<Value> list;
  for (const LocatedValue& element : value.elements) {
    Expected<Value> item = read(element, place.Element(list.size()));
    if (!item) {
      LEAKGATE_TRY(place.Keep(std::move(item).error()));
      item = Value{};
    }
    list.push_back(*std::move(item));
  }
  return list;
}

}  // namespace leakgate
