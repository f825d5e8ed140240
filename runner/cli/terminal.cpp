#include "runner/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace leakgate {
void Print(std::FILE* stream, const std::string& text) { std::fputs(text.c_str(), stream); }

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
