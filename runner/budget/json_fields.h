// Reads plain types from located JSON. What is wrong comes back as one line:
// "FILE:LINE:COLUMN: KEY: problem; remedy".
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/located_json.h"

namespace leakgate {

// Where a value stands: the file, and the keys that lead to it, as in
// "overrides[0].limits.test"; no keys for the outermost value. The file must
// outlive the place.
struct JsonPlace {
  const std::filesystem::path& file;
  std::string keys;

  [[nodiscard]] JsonPlace Member(std::string_view key) const;
  [[nodiscard]] JsonPlace Element(std::size_t index) const;

  // The usage error about the value, or about the member's key, that stands here.
  [[nodiscard]] Unexpected ErrorAt(const LocatedValue& value, std::string_view problem) const;
  [[nodiscard]] Unexpected ErrorAt(const LocatedMember& member, std::string_view problem) const;
};

// A key that an object may have, and how to read its value.
struct JsonField {
  std::string_view key;
  std::function<Expected<void>(const LocatedValue&, const JsonPlace&)> read;
  std::string_view add_if_missing = {};  // empty: the key is optional; else what to write
};

// Reads the members of an object in the file's order. Any other key is an
// error, and so is the lack of a required one. `example` shows a good value.
[[nodiscard]] Expected<void> ReadObject(const LocatedValue& value, const JsonPlace& place,
                                        const std::vector<JsonField>& fields,
                                        std::string_view example);

// The same, where an object without any member is an error too.
[[nodiscard]] Expected<void> ReadNonEmptyObject(const LocatedValue& value, const JsonPlace& place,
                                                const std::vector<JsonField>& fields,
                                                std::string_view example);

// A string; an empty or blank one is an error.
[[nodiscard]] Expected<std::string> ReadText(const LocatedValue& value, const JsonPlace& place,
                                             std::string_view example);

// A list of such strings; an empty list is an error.
[[nodiscard]] Expected<std::vector<std::string>> ReadTexts(const LocatedValue& value,
                                                           const JsonPlace& place,
                                                           std::string_view example);

// The error for a value of the wrong type: `wanted` is "a string", say.
[[nodiscard]] Unexpected WrongType(const LocatedValue& value, const JsonPlace& place,
                                   std::string_view wanted, std::string_view example);

// A JsonField::read that stores what `read` returns in `target`.
template <typename Target, typename Value>
auto Into(Target& target, Expected<Value> (*read)(const LocatedValue&, const JsonPlace&)) {
  return [&target, read](const LocatedValue& value, const JsonPlace& place) -> Expected<void> {
    Expected<Value> result = read(value, place);
    if (!result) return Unexpected(std::move(result).error());
    target = *std::move(result);
    return {};
  };
}

// A list of what `read` reads; it may be empty. `example` shows a good list.
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
    if (!item) return Unexpected(std::move(item).error());
    list.push_back(*std::move(item));
  }
  return list;
}

}  // namespace leakgate
