#include "runner/report/formats/script_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace leakgate {
namespace {

constexpr std::string_view kLineSeparators = "\xE2\x80";  // and then A8 or A9

bool MayBeEscaped(char byte) { return byte == '<' || byte == kLineSeparators[0]; }

// How many bytes of `text` the escape at `at` stands for; 0: the byte is as it is.
std::size_t EscapeAt(std::string_view text, std::size_t at, std::string& escaped) {
  if (text[at] == '<') {
    escaped += "\\u003c";
    return 1;
  }
  if (text.substr(at, 2) != kLineSeparators || at + 2 >= text.size()) return 0;
  if (text[at + 2] != '\xA8' && text[at + 2] != '\xA9') return 0;
  escaped += text[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
  return 3;
}

}  // namespace

std::string ScriptJson(const nlohmann::ordered_json& json) {
  constexpr bool kAsciiOnly = false;
  const std::string text =
      json.dump(-1, ' ', kAsciiOnly, nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 64);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t plain = at;
    while (plain < text.size() && !MayBeEscaped(text[plain])) ++plain;
    escaped.append(text, at, plain - at);
    if (plain == text.size()) break;
    const std::size_t length = EscapeAt(text, plain, escaped);
    if (length == 0) escaped += text[plain];
    at = plain + (length == 0 ? 1 : length);
  }
  return escaped;
}

}  // namespace leakgate
