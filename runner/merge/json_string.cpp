#include "runner/merge/json_string.h"

#include <array>
#include <charconv>
#include <optional>

namespace leakgate {
namespace {

// Bytes that a string holds as they are, one by one.
constexpr auto kIsPlain = [] {
  std::array<bool, 256> plain{};
  for (int byte = 0x20; byte < 0x80; ++byte) plain[static_cast<std::size_t>(byte)] = true;
  plain['"'] = plain['\\'] = false;
  return plain;
}();

bool IsPlain(char byte) { return kIsPlain[static_cast<unsigned char>(byte)]; }
bool IsControl(char byte) { return static_cast<unsigned char>(byte) < 0x20; }

void AppendUtf8(unsigned code, std::string& text) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | (code >> 6));
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3F));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// How many bytes follow the first, and the range of the second, by the Unicode
// standard's table of well-formed sequences.
struct Utf8Sequence {
  int followers = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
};

std::optional<Utf8Sequence> SequenceOf(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return Utf8Sequence{1};
  if (first == 0xE0) return Utf8Sequence{2, 0xA0, 0xBF};
  if (first == 0xED) return Utf8Sequence{2, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return Utf8Sequence{2};
  if (first == 0xF0) return Utf8Sequence{3, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return Utf8Sequence{3};
  if (first == 0xF4) return Utf8Sequence{3, 0x80, 0x8F};
  return std::nullopt;
}

// Over the one character that begins at `at`.
bool SkipCharacter(JsonText& text, std::size_t& at) {
  constexpr const char* kNotUtf8 = "a string is not UTF-8; run again what wrote it";
  const auto sequence = SequenceOf(static_cast<unsigned char>(text[at]));
  if (!sequence) return text.Fail(text.OffsetOf(at), kNotUtf8);
  ++at;
  for (int i = 0; i < sequence->followers; ++i, ++at) {
    if (!text.IsAt(at)) return text.CutOff();
    const auto byte = static_cast<unsigned char>(text[at]);
    const unsigned char least = i == 0 ? sequence->least : 0x80;
    const unsigned char most = i == 0 ? sequence->most : 0xBF;
    if (byte < least || byte > most) return text.Fail(text.OffsetOf(at), kNotUtf8);
  }
  return true;
}

// Over what no escape and no quote begins, from `at` on.
bool SkipPlain(JsonText& text, std::size_t& at) {
  at = text.SkipWhile(at, IsPlain);
  if (!text.IsAt(at)) return text.CutOff();
  const char byte = text[at];
  if (byte == '"' || byte == '\\' || IsPlain(byte)) return true;
  if (!IsControl(byte)) return SkipCharacter(text, at);
  return text.Fail(text.OffsetOf(at), "a control character in a string; run again what wrote it");
}

bool ReadHex4(JsonText& text, unsigned& unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i) {
    if (!text.HasNext()) return text.CutOff();
    const char digit = text.Next();
    unsigned value = 0;
    const auto [rest, error] = std::from_chars(&digit, &digit + 1, value, 16);
    if (error != std::errc()) {
      return text.Fail(text.offset(), "\\u wants four hexadecimal digits");
    }
    unit = unit * 16 + value;
    text.Advance();
  }
  return true;
}

// Over "\u", which the second half of a character begins with.
bool SkipSecondEscape(JsonText& text, std::uint64_t begin) {
  for (const char wanted : {'\\', 'u'}) {
    if (!text.HasNext()) return text.CutOff();
    if (text.Next() != wanted) return text.Fail(begin, "half a character; run again what wrote it");
    text.Advance();
  }
  return true;
}

// Behind "\u", which stands at `begin`.
bool ReadUnicodeEscape(JsonText& text, std::uint64_t begin, std::string& scratch) {
  unsigned code = 0;
  if (!ReadHex4(text, code)) return false;
  const bool is_first_half = code >= 0xD800 && code < 0xDC00;
  bool is_whole = code < 0xD800 || code > 0xDFFF;
  if (is_first_half) {
    unsigned low = 0;
    if (!SkipSecondEscape(text, begin) || !ReadHex4(text, low)) return false;
    is_whole = low >= 0xDC00 && low <= 0xDFFF;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (!is_whole) return text.Fail(begin, "half a character; run again what wrote it");
  AppendUtf8(code, scratch);
  return true;
}

// At a backslash.
bool ReadEscape(JsonText& text, std::string& scratch) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
  const std::uint64_t begin = text.offset();
  text.Advance();
  if (!text.HasNext()) return text.CutOff();
  const char name = text.Next();
  text.Advance();
  if (const std::size_t index = kNames.find(name); index != std::string_view::npos) {
    scratch += kBytes[index];
    return true;
  }
  if (name == 'u') return ReadUnicodeEscape(text, begin, scratch);
  return text.Fail(begin, "JSON has no such escape; run again what wrote it");
}

// At the first backslash of the string that begins at `begin`; `scratch` has what stands
// before it.
bool ReadEscaped(JsonText& text, std::uint64_t begin, std::string& scratch,
                 std::string_view& value) {
  for (;;) {
    if (scratch.size() > JsonText::kMostTokenBytes) return text.TooLong(begin);
    text.BeginToken();
    if (!text.HasNext()) return text.CutOff();
    if (text.Next() == '"') break;
    if (text.Next() == '\\') {
      if (!ReadEscape(text, scratch)) return false;
      continue;
    }
    std::size_t at = text.next();
    if (!SkipPlain(text, at)) return false;
    scratch.append(text.Token(at));
    text.MoveTo(at);
  }
  text.Advance();
  value = scratch;
  return true;
}

}  // namespace

// What has no escapes is told as it stands in the buffer.
bool ReadJsonString(JsonText& text, std::string& scratch, std::string_view& value) {
  text.BeginToken();
  const std::uint64_t begin = text.offset();
  for (std::size_t at = text.next() + 1;;) {
    if (!SkipPlain(text, at)) return false;
    if (!text.IsAt(at)) return text.CutOff();
    if (text[at] == '"') {
      value = text.Token(at).substr(1);
      text.MoveTo(at + 1);
      return true;
    }
    if (text[at] == '\\') {
      scratch.assign(text.Token(at).substr(1));
      text.MoveTo(at);
      return ReadEscaped(text, begin, scratch, value);
    }
  }
}

}  // namespace leakgate
