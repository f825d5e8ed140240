// Writes the parts of a run as JSON text, by the table of keys in fields.h. It is what the JSON
// report has of each window: a suite of 100,000 tests has 160 MiB of it, so no JSON value is built
// in between, and nothing is allocated but the text.
//
// The text is laid out as nlohmann::json lays it out with an indentation of one space. Bytes of a
// string that are not UTF-8 become U+FFFD.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/report/json/fields.h"
#include "runner/result/run_result.h"
#include "runner/result/words.h"

namespace leakgate {

// Appends a string in quotes.
void AppendJsonString(std::string_view value, std::string& text);
inline void AppendJsonNumber(std::integral auto number, std::string& text) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}
// Appends a number that is told by a fraction even if it is whole, as "2.0".
void AppendJsonFraction(double value, std::string& text);

// Returns a JSON value as text, in one line or indented by one space. Bytes of a string that are
// not UTF-8 become U+FFFD.
[[nodiscard]] std::string CompactJson(const nlohmann::ordered_json& json);
[[nodiscard]] std::string IndentedJson(const nlohmann::ordered_json& json);

// A visitor of fields (fields.h) that appends an object of them to a text. `depth` is how deep the
// object is nested.
class JsonText {
 public:
  static constexpr bool kReads = false;

  JsonText(std::string& text, std::size_t depth) : text_(text), depth_(depth) { text_ += '{'; }

  template <typename T>
  void Required(std::string_view key, const T& value) {
    Begin(key);
    Append(value, depth_ + 1);
  }
  template <typename T>
  void WithDefault(std::string_view key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(std::string_view key, const T& value, bool is_written) {
    if (is_written) Required(key, value);
  }
  template <typename Visit>
  void Group(std::string_view key, const Visit& visit) {
    Begin(key);
    JsonText group(text_, depth_ + 1);
    visit(group);
    group.End();
  }

  // Ends the object.
  void End() {
    if (has_members_) BreakLine(depth_);
    text_ += '}';
  }

 private:
  enum class Comma { kNone, kBefore };
  // Appends a line break, and as many spaces as the line is deep.
  void BreakLine(std::size_t depth, Comma comma = Comma::kNone) {
    static constexpr std::string_view kLine =
        ",\n                                                                ";
    static_assert(kLine.size() == kMostSpaces + 2);
    const std::size_t begin = comma == Comma::kBefore ? 0 : 1;
    text_ += kLine.substr(begin, 2 - begin + std::min(depth, kMostSpaces));
  }
  void BeginLine() {
    BreakLine(depth_ + 1, has_members_ ? Comma::kBefore : Comma::kNone);
    has_members_ = true;
  }
  void Begin(std::string_view key) {
    BeginLine();
    text_ += '"';
    text_ += key;
    text_ += "\": ";
  }

  template <typename T>
  void Append(const T& value, std::size_t depth) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      AppendJsonNumber(value, text_);
    } else if constexpr (std::is_enum_v<T>) {
      AppendJsonString(Word(value), text_);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      AppendJsonString(value, text_);
    } else {
      JsonText members(text_, depth);
      VisitFields(members, value);
      members.End();
    }
  }
  template <typename T>
  void Append(const std::optional<T>& value, std::size_t depth) {
    if (!value) return AppendNull();
    Append(*value, depth);
  }
  template <typename T>
  void Append(const std::vector<T>& values, std::size_t depth) {
    text_ += '[';
    bool is_first = true;
    for (const T& value : values) {
      BreakLine(depth + 1, is_first ? Comma::kNone : Comma::kBefore);
      is_first = false;
      Append(value, depth + 1);
    }
    if (!is_first) BreakLine(depth);
    text_ += ']';
  }
  void Append(const SharedStack& stack, std::size_t depth) { Append(stack.get(), depth); }
  template <typename T>
  void Append(const std::map<std::string, T>& values, std::size_t depth) {
    JsonText members(text_, depth);
    for (const auto& [key, value] : values) {
      members.BeginLine();
      AppendJsonString(key, text_);  // others may have written it
      text_ += ": ";
      Append(value, depth + 1);
    }
    members.End();
  }
  template <typename T>
  void Append(const OrNull<T>& member, std::size_t depth) {
    if (member.is_null) return AppendNull();
    Append(member.value, depth);
  }
  template <typename T>
  void Append(const Hexadecimal<T>& member, std::size_t /*depth*/) {
    fmt::format_to(std::back_inserter(text_), "\"{:#x}\"", member.number);
  }
  template <typename T>
  void Append(const Seconds<T>& member, std::size_t /*depth*/) {
    AppendJsonFraction(std::chrono::duration<double>(member.time - member.origin).count(), text_);
  }
  template <typename T>
  void Append(const OfRun<T>& member, std::size_t /*depth*/) {
    AppendJsonString(RunWord(member.verdict), text_);
  }
  void AppendNull() { text_ += "null"; }

  static constexpr std::size_t kMostSpaces = 64;  // no report is nested deeper

  std::string& text_;
  const std::size_t depth_;
  bool has_members_ = false;
};

// Appends an object with all of a run but its windows.
inline void AppendRunWithoutWindows(const RunResult& run, std::string& text) {
  JsonText fields(text, 0);
  fields.Required("schema", kRunSchema);
  VisitFields(fields, run);
  fields.End();
}

}  // namespace leakgate
