#include "runner/report/json/json_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runner/budget/wording.h"

namespace leakgate {
namespace {

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

std::string Dumped(const nlohmann::ordered_json& json, int indent) {
  constexpr bool kAsciiOnly = false;
  return json.dump(indent, ' ', kAsciiOnly, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

// Names and paths are plain as a rule. What is not, needs the library's care.
void AppendJsonString(std::string_view value, std::string& text) {
  if (!std::all_of(value.begin(), value.end(), IsPlain)) {
    text += Quoted(value);
    return;
  }
  text += '"';
  text += value;
  text += '"';
}

void AppendJsonFraction(double value, std::string& text) {
  if (!std::isfinite(value)) {  // JSON has no word for it
    text += "null";
    return;
  }
  const std::size_t begin = text.size();
  fmt::format_to(std::back_inserter(text), "{}", value);
  if (text.find_first_of(".e", begin) == std::string::npos) text += ".0";
}

std::string CompactJson(const nlohmann::ordered_json& json) { return Dumped(json, -1); }

std::string IndentedJson(const nlohmann::ordered_json& json) { return Dumped(json, 1); }

}  // namespace leakgate
