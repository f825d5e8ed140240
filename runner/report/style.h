// How text looks: colours, and names made safe to print.
//
// Names, paths and reasons come from the program under test and from files, so
// each goes through Printable before it is printed: an ESC in a test's name
// must not reach a terminal.
#pragma once

#include <string>
#include <string_view>

namespace leakgate {

// Decided by the caller: a terminal or not, NO_COLOR, --color.
enum class Colour { kOff, kOn };

// What every text writer is told about its surroundings.
struct TextStyle {
  Colour colour = Colour::kOff;
  std::string base_directory;  // absolute; paths below it are shown relative to it. Empty: none
};

// What a piece of text means; the colour follows from it.
enum class Emphasis {
  kHeading,       // bold
  kGood,          // green
  kBad,           // red, bold
  kUncertain,     // yellow
  kOwnFrame,      // bold: the user's call site
  kInTheDistance  // dim: there for completeness
};

[[nodiscard]] std::string Paint(std::string_view text, Emphasis emphasis, Colour colour);

// Returns `text` with control characters, those that turn the direction of text, and bytes that are
// no UTF-8 as \xNN.
[[nodiscard]] std::string Printable(std::string_view text);

// Counts the columns that `text` takes, if each code point takes one.
[[nodiscard]] std::size_t Columns(std::string_view text);

// Adds spaces up to `columns`. A longer `text` stays as it is.
[[nodiscard]] std::string PadRight(std::string text, std::size_t columns);

}  // namespace leakgate
