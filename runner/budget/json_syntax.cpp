#include "runner/budget/json_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace leakgate {
namespace {

struct Explanation {
  std::string_view symptom;  // a part of nlohmann/json's message
  std::string_view text;
};

// The first one whose symptom is found holds.
constexpr std::array kExplanations = {
    Explanation{"ill-formed UTF-8", "a string is not UTF-8; save the file as UTF-8"},
    Explanation{"missing closing quote", "the text ends inside a string; close it with '\"'"},
    Explanation{"must be escaped",
                "a line break or control character in a string; close it with '\"' or write \\n"},
    Explanation{"number overflow", "a number is too large; write a smaller one"},
    Explanation{"unexpected end of input", "the text ends inside an object or array; close it"},
    Explanation{"expected end of input", "text after the end of the budget; remove it"},
    Explanation{"object key - ", "a key must be a string; put it in double quotes"},
    Explanation{"object separator - ", "no ':' after a key; write \"key\": value"},
    Explanation{"object - ", "neither ',' nor '}' after a value; add the one that is missing"},
    Explanation{"array - ", "neither ',' nor ']' after a value; add the one that is missing"},
    Explanation{"invalid literal", "a word that is no value; put it in double quotes"},
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The closing bracket that follows a comma at the end of `read`, or '\0'.
char BracketAfterComma(std::string_view read) {
  if (!read.ends_with('}') && !read.ends_with(']')) return '\0';
  const char bracket = read.back();
  read.remove_suffix(1);
  const std::size_t before = read.find_last_not_of(" \t\r\n");
  return before != std::string_view::npos && read[before] == ',' ? bracket : '\0';
}

// `what` without the text that the parser quotes from the file, which may hold
// anything: invalid UTF-8, or words that look like a symptom.
std::string WithoutQuotation(std::string_view what) {
  const std::size_t begin = what.find("; last read: '");
  if (begin == std::string_view::npos) return std::string(what);
  const std::size_t end = what.rfind("'; expected ");
  const bool goes_on = end != std::string_view::npos && end > begin;
  return std::string(what.substr(0, begin)).append(goes_on ? what.substr(end + 1) : "");
}

// nlohmann/json's own words: what stands behind " - ".
std::string_view Reason(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  return dash == std::string_view::npos ? what : what.substr(dash + 3);
}

}  // namespace

std::string ExplainSyntaxError(std::string_view read, std::string_view what) {
  const std::string message = WithoutQuotation(what);
  if (const char bracket = BracketAfterComma(read); bracket != '\0') {
    return fmt::format("a comma before '{}'; remove it", bracket);
  }
  if (read.ends_with('/') && Contains(message, "invalid literal")) {
    return "JSON has no comments; remove it";
  }
  const auto* known =
      std::find_if(kExplanations.begin(), kExplanations.end(),
                   [&](const Explanation& e) { return Contains(message, e.symptom); });
  if (known != kExplanations.end()) return std::string(known->text);
  return fmt::format("{}; correct it", Reason(message));
}

}  // namespace leakgate
