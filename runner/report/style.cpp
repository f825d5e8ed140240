#include "runner/report/style.h"

#include <fmt/format.h>

namespace leakgate {
namespace {

const char* EscapeSequence(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::kHeading:
    case Emphasis::kOwnFrame:
      return "\x1b[1m";
    case Emphasis::kGood:
      return "\x1b[32m";
    case Emphasis::kBad:
      return "\x1b[1;31m";
    case Emphasis::kUncertain:
      return "\x1b[33m";
    case Emphasis::kInTheDistance:
      return "\x1b[2m";
  }
  return "";
}

unsigned ByteAt(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

bool IsContinuation(unsigned byte) { return (byte & 0xC0) == 0x80; }

// Returns the length of a UTF-8 sequence that begins with `lead`; 0 if none does.
std::size_t SequenceLength(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte shows overlong forms, surrogates and code points beyond U+10FFFF.
bool IsAllowedSecondByte(unsigned lead, unsigned second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

bool IsControl(unsigned byte) { return byte < 0x20 || byte == 0x7F; }

// Returns true for invisible characters that turn the direction of text or end a line: U+200E,
// U+200F, U+2028 to U+202E, U+2066 to U+2069, and U+061C. They could make a name look like another.
bool IsDirection(std::string_view character) {
  if (character == "\xd8\x9c") return true;
  if (character.size() != 3 || ByteAt(character, 0) != 0xE2) return false;
  const unsigned second = ByteAt(character, 1);
  const unsigned third = ByteAt(character, 2);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

// Returns the length of the printable character at the start of `text`, or 0 if there is none.
// U+0080 to U+009F are control characters, such as CSI.
std::size_t PrintableLength(std::string_view text) {
  const unsigned lead = ByteAt(text, 0);
  const std::size_t length = SequenceLength(lead);
  if (length == 1) return IsControl(lead) ? 0 : 1;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(ByteAt(text, i))) return 0;
  }
  const unsigned second = ByteAt(text, 1);
  const bool is_c1_control = lead == 0xC2 && second < 0xA0;
  if (is_c1_control || IsDirection(text.substr(0, length))) return 0;
  return IsAllowedSecondByte(lead, second) ? length : 0;
}

// Returns how much of the text is ASCII without control characters: mostly all of it.
std::size_t PlainLength(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && ByteAt(text, length) < 0x7F && ByteAt(text, length) >= 0x20) {
    ++length;
  }
  return length;
}

}  // namespace

std::string Paint(std::string_view text, Emphasis emphasis, Colour colour) {
  if (colour == Colour::kOff || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", EscapeSequence(emphasis), text);
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (;;) {
    const std::size_t plain = PlainLength(text);
    printable += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = PrintableLength(text);
    if (length == 0) printable += fmt::format("\\x{:02x}", ByteAt(text, 0));
    printable += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return printable;
}

std::size_t Columns(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!IsContinuation(ByteAt(text, i))) ++columns;
  }
  return columns;
}

std::string PadRight(std::string text, std::size_t columns) {
  const std::size_t width = Columns(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

}  // namespace leakgate
