#include "runner/budget/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runner/budget/wording.h"

namespace leakgate {
namespace {

// Returns the value as messages show it.
std::string DescribeValue(const LocatedValue& value) {
  switch (value.kind) {
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kString:
      return Quoted(value.text);
    case JsonKind::kNull:
    case JsonKind::kBoolean:
    case JsonKind::kNumber:
      break;
  }
  return value.text;
}

std::vector<std::string_view> Keys(const std::vector<JsonField>& fields) {
  std::vector<std::string_view> keys;
  for (const JsonField& field : fields) keys.push_back(field.key);
  return keys;
}

Unexpected UnknownKey(const LocatedMember& member, const JsonPlace& place,
                      const std::vector<JsonField>& fields) {
  const std::vector<std::string_view> known = Keys(fields);
  const std::optional<std::string_view> nearest = FindNearestWord(member.key, known);
  const std::string remedy =
      nearest ? fmt::format("did you mean {}?", Quoted(*nearest)) : std::string("remove it.");
  return place.ErrorAt(member, fmt::format("unknown key {}; {} Known: {}", Quoted(member.key),
                                           remedy, QuotedList(known, "and")));
}

Expected<void> ReadMember(const LocatedMember& member, const JsonPlace& place,
                          const std::vector<JsonField>& fields) {
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const JsonField& f) { return f.key == member.key; });
  if (field == fields.end()) return UnknownKey(member, place, fields);
  return field->read(member.value, place.Member(member.key));
}

Expected<void> CheckRequired(const LocatedValue& object, const JsonPlace& place,
                             const std::vector<JsonField>& fields) {
  for (const JsonField& field : fields) {
    if (field.add_if_missing.empty() || object.Find(field.key) != nullptr) continue;
    const Unexpected missing = place.Member(field.key).ErrorAt(
        object, fmt::format("missing; add {}", field.add_if_missing));
    if (Expected<void> kept = place.Keep(missing.value()); !kept) return kept;
  }
  return {};
}

std::string WithKeys(const std::string& keys, std::string_view problem) {
  return keys.empty() ? std::string(problem) : fmt::format("{}: {}", keys, problem);
}

}  // namespace

JsonPlace JsonPlace::Member(std::string_view key) const {
  return {file, keys.empty() ? std::string(key) : fmt::format("{}.{}", keys, key), errors};
}

JsonPlace JsonPlace::Element(std::size_t index) const {
  return {file, fmt::format("{}[{}]", keys, index), errors};
}

Expected<void> JsonPlace::Keep(Error error) const {
  if (errors == nullptr) return Unexpected(std::move(error));
  errors->push_back(std::move(error));
  return {};
}

Unexpected JsonPlace::ErrorAt(const LocatedValue& value, std::string_view problem) const {
  return leakgate::ErrorAt(file, {value.line, value.column}, WithKeys(keys, problem));
}

Unexpected JsonPlace::ErrorAt(const LocatedMember& member, std::string_view problem) const {
  return leakgate::ErrorAt(file, {member.line, member.column}, WithKeys(keys, problem));
}

Unexpected WrongType(const LocatedValue& value, const JsonPlace& place, std::string_view wanted,
                     std::string_view example) {
  return place.ErrorAt(value, fmt::format("expected {}, found {}; write one such as {}", wanted,
                                          DescribeValue(value), example));
}

Unexpected UnknownWord(const LocatedValue& value, const JsonPlace& place,
                       const std::vector<std::string_view>& words) {
  const std::string choices = QuotedList(words, "or");
  if (value.kind != JsonKind::kString) return WrongType(value, place, "a string", choices);
  return place.ErrorAt(value,
                       fmt::format("unknown word {}; write {}", Quoted(value.text), choices));
}

Expected<void> ReadObject(const LocatedValue& value, const JsonPlace& place,
                          const std::vector<JsonField>& fields, std::string_view example) {
  if (value.kind != JsonKind::kObject) return WrongType(value, place, "an object", example);
  for (const LocatedMember& member : value.members) {
    const Expected<void> read = ReadMember(member, place, fields);
    if (read) continue;
    if (Expected<void> kept = place.Keep(read.error()); !kept) return kept;
  }
  return CheckRequired(value, place, fields);
}

Expected<void> ReadNonEmptyObject(const LocatedValue& value, const JsonPlace& place,
                                  const std::vector<JsonField>& fields, std::string_view example) {
  if (value.kind == JsonKind::kObject && value.members.empty()) {
    return place.ErrorAt(value,
                         fmt::format("is empty; it needs {}", QuotedList(Keys(fields), "or")));
  }
  return ReadObject(value, place, fields, example);
}

Expected<bool> ReadYesOrNo(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind == JsonKind::kBoolean) return value.text == "true";
  return WrongType(value, place, "true or false", "false");
}

Expected<std::string> ReadText(const LocatedValue& value, const JsonPlace& place,
                               std::string_view example) {
  if (value.kind != JsonKind::kString) return WrongType(value, place, "a string", example);
  if (value.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return place.ErrorAt(value, fmt::format("is empty; write a string such as {}", example));
  }
  return value.text;
}

Expected<std::vector<std::string>> ReadTexts(const LocatedValue& value, const JsonPlace& place,
                                             std::string_view example) {
  const std::string list_example = fmt::format("[{}]", example);
  if (value.kind != JsonKind::kArray) {
    return WrongType(value, place, "an array of strings", list_example);
  }
  if (value.elements.empty()) {
    return place.ErrorAt(value, fmt::format("is empty; write a list such as {}", list_example));
  }
  std::vector<std::string> texts;
  for (const LocatedValue& element : value.elements) {
    Expected<std::string> text = ReadText(element, place.Element(texts.size()), example);
    if (!text) {
      LEAKGATE_TRY(place.Keep(std::move(text).error()));
      text = std::string();
    }
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace leakgate
