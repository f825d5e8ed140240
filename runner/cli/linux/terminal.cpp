#include "runner/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace leakgate {
namespace {

// The escape sequences that Paint writes, and that do no more than that to a terminal.
constexpr std::array<std::string_view, 6> kColours = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                                      "\x1b[32m", "\x1b[33m", "\x1b[1;31m"};

std::string_view ColourAtBeginOf(std::string_view text) {
  const auto found = std::find_if(kColours.begin(), kColours.end(), [&](std::string_view colour) {
    return text.starts_with(colour);
  });
  return found == kColours.end() ? std::string_view() : *found;
}

// Builds the text, and remembers what its line has so far: that tells what the rest may mean.
class ConsoleLines {
 public:
  std::string Take() { return std::move(text_); }

  void Add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t done = AddFirst(text);
      text.remove_prefix(done);
    }
  }

 private:
  // Returns the number of bytes that it took.
  std::size_t AddFirst(std::string_view text) {
    if (text.front() == '\n') {
      text_ += '\n';
      is_blank_ = true;
      return 1;
    }
    if (const std::string_view colour = ColourAtBeginOf(text); !colour.empty()) {
      text_ += colour;
      return colour.size();
    }
    if (IsCommand(text)) {
      text_ += text.front() == ':' ? "\\x3a" : "\\x23";
      is_blank_ = false;
      return 1;
    }
    const std::string_view part = text.substr(0, text.find_first_of("\n\x1b:#", 1));
    is_blank_ = is_blank_ && std::none_of(part.begin(), part.end(), IsGraphic);
    text_ += Printable(part);
    return part.size();
  }

  // GitHub takes what follows blanks at the begin of a line for a command, Azure and TeamCity, and
  // GitHub as well, what follows "##" anywhere.
  bool IsCommand(std::string_view text) const {
    return text.starts_with("##") || (is_blank_ && text.starts_with("::"));
  }

  static bool IsGraphic(char c) { return c > ' ' && c < 0x7f; }

  std::string text_;
  bool is_blank_ = true;  // the line, so far: other blanks than ASCII's count as such
};

}  // namespace

std::string ConsoleText(std::string_view text) {
  ConsoleLines lines;
  lines.Add(text);
  return lines.Take();
}

std::string ConsoleJson(const nlohmann::ordered_json& json, int indent) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  const std::string text = json.dump(indent, ' ', true, kReplace);
  std::string console;
  for (const char c : text) {
    const bool is_second = c == '#' && console.ends_with('#');
    console += is_second ? "\\u0023" : std::string(1, c);
  }
  return console + '\n';
}

void Print(std::FILE* stream, std::string_view text) { PrintVerbatim(stream, ConsoleText(text)); }

void PrintMessage(std::string_view message) {
  Print(stderr, "leakgate: " + Printable(message) + '\n');
}

void PrintVerbatim(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

// https://no-color.org: any value but the empty one.
Colour ColourOf(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_forbidden = no_color != nullptr && *no_color != '\0';
  return ::isatty(::fileno(stream)) != 0 && !is_forbidden ? Colour::kOn : Colour::kOff;
}

TextStyle StyleOfStandardError() {
  std::error_code error;
  return {ColourOf(stderr), std::filesystem::current_path(error).string()};
}

}  // namespace leakgate
