// Makes JSON values of the parts of a run, for the JSON report and for the page of the HTML report,
// and reads them, by the table of keys in fields.h. Strings may have bytes that are not UTF-8; they
// are replaced when the JSON is written.
#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/report/json/fields.h"
#include "runner/result/run_result.h"
#include "runner/result/words.h"

namespace leakgate {

// A visitor of fields (fields.h) that makes an object of them.
class JsonMaker {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kReads = false;

  template <typename T>
  void Required(const char* key, const T& value) {
    members_.emplace_back(key, Make(value));
  }
  template <typename T>
  void WithDefault(const char* key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(const char* key, const T& value, bool is_written) {
    if (is_written) Required(key, value);
  }
  template <typename Visit>
  void Group(const char* key, const Visit& visit) {
    JsonMaker group;
    visit(group);
    members_.emplace_back(key, group.Take());
  }

  [[nodiscard]] Json Take() { return Json(std::move(members_)); }

  template <typename T>
  static Json Make(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return Word(value);
    } else if constexpr (requires(JsonMaker & fields) { VisitFields(fields, value); }) {
      JsonMaker fields;
      VisitFields(fields, value);
      return fields.Take();
    } else {
      return Json(value);
    }
  }
  template <typename T>
  static Json Make(const std::optional<T>& value) {
    return value ? Make(*value) : Json(nullptr);
  }
  template <typename T>
  static Json Make(const std::vector<T>& values) {
    Json::array_t array;
    array.reserve(values.size());
    for (const T& value : values) array.push_back(Make(value));
    return array;
  }
  static Json Make(const SharedStack& stack) { return Make(stack.get()); }
  template <typename T>
  static Json Make(const OrNull<T>& member) {
    return member.is_null ? Json(nullptr) : Make(member.value);
  }
  template <typename T>
  static Json Make(const Hexadecimal<T>& member) {
    return fmt::format("{:#x}", member.number);
  }
  template <typename T>
  static Json Make(const Seconds<T>& member) {
    return std::chrono::duration<double>(member.time - member.origin).count();
  }
  template <typename T>
  static Json Make(const OfRun<T>& member) {
    return RunWord(member.verdict);
  }

 private:
  Json::object_t members_;
};

// Returns all of a run but its windows.
inline nlohmann::ordered_json JsonWithoutWindows(const RunResult& run) {
  JsonMaker fields;
  fields.Required("schema", kRunSchema);
  VisitFields(fields, run);
  return fields.Take();
}

// Both return "what is wrong; what to do", or an empty text. After a problem, the value is
// incomplete.
[[nodiscard]] std::string ReadWindow(const nlohmann::ordered_json& json, WindowResult& window);
[[nodiscard]] std::string ReadFieldOfRun(const nlohmann::ordered_json& json, std::string_view key,
                                         RunResult& run);

// Tells whether a run has a member of that name, besides its schema and its windows.
[[nodiscard]] bool IsFieldOfRun(std::string_view key);

// Returns a member that each run must have and that is not among `keys`.
[[nodiscard]] std::optional<std::string> MissingFieldOfRun(const std::vector<std::string>& keys);

}  // namespace leakgate
