// Prints the runner's own text.
//
// A console is a terminal, which obeys escape sequences, or the log of a CI system, which obeys
// lines such as "::error::..." and "##[error]...". Texts contain names that others have chosen: of
// files, tests, functions, components. So all text goes through these functions, which make sure
// that nothing in it is obeyed.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runner/report/style.h"

namespace leakgate {

// Says where the progress of a run or a merge is shown.
enum class ProgressMode {
  kAuto,   // a bar or lines, where they disturb nothing
  kBar,    // in the last row of the terminal, also while the program writes above it
  kLines,  // from time to time
  kNone,
};

// Prints text of many lines, which may be coloured (Paint). A broken pipe is ignored. REQUIRES:
// names in the text have been through Printable, so that each newline is the text's own.
void Print(std::FILE* stream, std::string_view text);

// Prints "leakgate: MESSAGE" on standard error, always on one line.
void PrintMessage(std::string_view message);

// Prints text without any names that others have chosen: help, manual pages, scripts.
void PrintVerbatim(std::FILE* stream, std::string_view text);

// Returns what Print prints for a text.
[[nodiscard]] std::string ConsoleText(std::string_view text);

// Returns JSON that Print does not change: all ASCII, invalid UTF-8 replaced, a newline at the end.
[[nodiscard]] std::string ConsoleJson(const nlohmann::ordered_json& json, int indent);

// Returns whether to colour text: on a terminal, unless NO_COLOR forbids it.
[[nodiscard]] Colour ColourOf(std::FILE* stream);
[[nodiscard]] TextStyle StyleOfStandardError();

}  // namespace leakgate
