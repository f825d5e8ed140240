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

// How many bytes the UTF-8 sequence that begins with `lead` has; 0: none does.
std::size_t SequenceLength(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Overlong forms, surrogates and what lies beyond U+10FFFF all show in the
// second byte.
bool IsAllowedSecondByte(unsigned lead, unsigned second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

bool IsControl(unsigned byte) { return byte < 0x20 || byte == 0x7F; }

// The length of the printable character at the start of `text`, 0 if there is
// none. U+0080 to U+009F are control characters, CSI among them.
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
  return is_c1_control || !IsAllowedSecondByte(lead, second) ? 0 : length;
}

}  // namespace

std::string Paint(std::string_view text, Emphasis emphasis, Colour colour) {
  if (colour == Colour::kOff || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", EscapeSequence(emphasis), text);
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
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
