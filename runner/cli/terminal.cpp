#include "runner/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace leakgate {
namespace {

// https://no-color.org: any value but the empty one.
Colour ColourOfStandardError() {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_forbidden = no_color != nullptr && *no_color != '\0';
  return ::isatty(STDERR_FILENO) != 0 && !is_forbidden ? Colour::kOn : Colour::kOff;
}

}  // namespace

void Print(std::FILE* stream, const std::string& text) { std::fputs(text.c_str(), stream); }

TextStyle StyleOfStandardError() {
  std::error_code error;
  return {ColourOfStandardError(), std::filesystem::current_path(error).string()};
}

}  // namespace leakgate
