// Where the runner's own text goes, and how it looks there.
//
// A console is a terminal, which obeys escape sequences, or the log of a CI system, which obeys
// lines such as "::error::..." and "##[error]...". Texts hold names that others have chosen: of
// files, tests, functions, components. So all text passes one of these functions, and comes out
// as text and nothing else.
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

// Text of many lines, which may be coloured (Paint). Names in it have been through Printable: a
// newline is taken for the text's own. A broken pipe behind the stream is no concern of the run's.
void Print(std::FILE* stream, std::string_view text);

// "leakgate: MESSAGE" on standard error, on one line, whatever is in the message.
void PrintMessage(std::string_view message);

// What is leakgate's own from end to end: help, manual pages, scripts.
void PrintVerbatim(std::FILE* stream, std::string_view text);

// What Print makes of a text.
[[nodiscard]] std::string ConsoleText(std::string_view text);

// JSON that Print leaves as it is, with a newline behind: all ASCII, what is no UTF-8 replaced.
[[nodiscard]] std::string ConsoleJson(const nlohmann::ordered_json& json, int indent);

// Colour on a terminal, unless NO_COLOR forbids it.
[[nodiscard]] Colour ColourOf(std::FILE* stream);
[[nodiscard]] TextStyle StyleOfStandardError();

}  // namespace leakgate
