// Millions of short texts are hashed: without a call for each.
#define XXH_INLINE_ALL
#include "runner/merge/json_scanner.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>

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
bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }
bool IsSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

Digest DigestOf(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

template <typename Number>
Digest DigestOfNumber(Number number, std::uint64_t seed) {
  std::array<char, sizeof number> bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  return DigestOf({bytes.data(), bytes.size()}, seed);
}

// The seeds keep apart what would else be alike: "1" and 1.
constexpr std::uint64_t kStringSeed = 1;
constexpr std::uint64_t kIntegerSeed = 2;
constexpr std::uint64_t kFractionSeed = 3;

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

}  // namespace

struct JsonScanner::TextHash {
  TextHash() = default;
  ~TextHash() { XXH3_freeState(state); }
  TextHash(const TextHash&) = delete;
  TextHash& operator=(const TextHash&) = delete;

  XXH3_state_t* state = XXH3_createState();
};

JsonScanner::~JsonScanner() = default;

JsonScanner::JsonScanner(Read read, std::size_t buffer_bytes)
    : read_(std::move(read)), buffer_(buffer_bytes), text_(std::make_unique<TextHash>()) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  while (end_ < kByteOrderMark.size() && Fill()) continue;
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    position_ = keep_ = kByteOrderMark.size();
  }
}

Digest JsonScanner::Combine(const Digest& a, const Digest& b) {
  const std::array<std::uint64_t, 4> words = {a.low, a.high, b.low, b.high};
  const XXH128_hash_t hash = XXH3_128bits(words.data(), sizeof words);
  return {hash.low64, hash.high64};
}

// Drops what lies before the token that is being read.
bool JsonScanner::Fill() {
  if (in_text_) {
    XXH3_128bits_update(text_->state, buffer_.data() + hashed_, keep_ - hashed_);
    hashed_ = 0;
  }
  std::memmove(buffer_.data(), buffer_.data() + keep_, end_ - keep_);
  base_ += keep_;
  position_ -= keep_;
  end_ -= keep_;
  keep_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const std::size_t count = read_(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  return count != 0;
}

// `index` moves with the buffer.
bool JsonScanner::FillTo(std::size_t& index) {
  const std::size_t ahead = index - keep_;
  const bool has_more = Fill();
  index = keep_ + ahead;
  return has_more && index < end_;
}

bool JsonScanner::Fail(std::uint64_t offset, std::string text) {
  if (!problem_) problem_ = Problem{offset, std::move(text), false};
  return false;
}

bool JsonScanner::CutOff() {
  if (!problem_) {
    problem_ = Problem{
        base_ + end_, "the file was cut off here; copy it again, or run again what wrote it", true};
  }
  return false;
}

bool JsonScanner::Refuse(std::string text) { return Fail(value_, std::move(text)); }

// To the next token. False at the text's end.
bool JsonScanner::Space() {
  if (problem_) return false;
  for (;;) {
    while (position_ < end_ && IsSpace(buffer_[position_])) ++position_;
    keep_ = position_;
    if (position_ < end_) return true;
    if (!Fill()) return false;
  }
}

std::optional<JsonType> JsonScanner::Peek() {
  if (!Space()) {
    CutOff();
    return std::nullopt;
  }
  value_ = offset();
  switch (buffer_[position_]) {
    case '{':
      return JsonType::kObject;
    case '[':
      return JsonType::kArray;
    case '"':
      return JsonType::kString;
    case 't':
    case 'f':
      return JsonType::kBoolean;
    case 'n':
      return JsonType::kNull;
    default:
      break;
  }
  if (buffer_[position_] == '-' || IsDigit(buffer_[position_])) return JsonType::kNumber;
  Fail(value_, "no JSON value begins here; correct it, or run again what wrote it");
  return std::nullopt;
}

bool JsonScanner::WrongType(std::string_view wanted) {
  if (!Peek()) return false;
  return Fail(value_, fmt::format("{} is expected here; run again what wrote it", wanted));
}

bool JsonScanner::Open(char bracket, std::string_view what) {
  if (!Peek()) return false;
  if (buffer_[position_] != bracket) return WrongType(what);
  if (++depth_ > kMostDepth) {
    return Fail(offset(), fmt::format("nested deeper than {}; no report is", kMostDepth));
  }
  ++position_;
  return true;
}

bool JsonScanner::Close(char bracket, bool is_first) {
  if (!Space()) {
    CutOff();
    return true;
  }
  if (buffer_[position_] == bracket) {
    ++position_;
    return true;
  }
  if (is_first) return false;
  if (buffer_[position_] != ',') {
    Fail(offset(),
         fmt::format("neither ',' nor '{}' after a value; run again what wrote it", bracket));
    return true;
  }
  ++position_;
  return false;
}

bool JsonScanner::Finish(const Digest& digest) {
  if (problem_) return false;
  --depth_;
  digest_ = digest;
  return true;
}

bool JsonScanner::Key(std::string& key) {
  if (!Space()) return CutOff();
  if (buffer_[position_] != '"') {
    return Fail(offset(), "a key in double quotes is expected here; run again what wrote it");
  }
  std::string_view text;
  if (!Quoted(text)) return false;
  key.assign(text);
  digest_ = DigestOf(key, kStringSeed);
  if (!Space()) return CutOff();
  if (buffer_[position_] != ':') {
    return Fail(offset(), "no ':' after a key; run again what wrote it");
  }
  ++position_;
  return true;
}

bool JsonScanner::String(std::string_view& value) {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  if (*type != JsonType::kString) return WrongType("a string");
  if (!Quoted(value)) return false;
  digest_ = DigestOf(value, kStringSeed);
  return true;
}

// At the opening quote. What has no escapes is told as it stands in the buffer.
bool JsonScanner::Quoted(std::string_view& value) {
  keep_ = position_;
  std::size_t at = position_ + 1;
  for (;;) {
    while (at < end_ && IsPlain(buffer_[at])) ++at;
    if (!IsAt(at)) return CutOff();
    const char byte = buffer_[at];
    if (byte == '"') break;
    if (byte == '\\') {
      scratch_.assign(buffer_.data() + keep_ + 1, at - keep_ - 1);
      position_ = at;
      return Escaped(value);
    }
    if (IsPlain(byte)) continue;
    if (static_cast<unsigned char>(byte) < 0x20) {
      return Fail(base_ + at, "a control character in a string; run again what wrote it");
    }
    if (!Utf8(at)) return false;
  }
  value = std::string_view(buffer_.data() + keep_ + 1, at - keep_ - 1);
  position_ = at + 1;
  return true;
}

// At the first backslash; scratch_ has what stands before it.
bool JsonScanner::Escaped(std::string_view& value) {
  for (;;) {
    keep_ = position_;
    if (!IsAt(position_)) return CutOff();
    const char byte = buffer_[position_];
    if (byte == '"') break;
    if (byte == '\\') {
      if (!Escape()) return false;
      continue;
    }
    if (static_cast<unsigned char>(byte) < 0x20) {
      return Fail(offset(), "a control character in a string; run again what wrote it");
    }
    std::size_t at = position_;
    if (IsPlain(byte)) {
      while (at < end_ && IsPlain(buffer_[at])) ++at;
    } else if (!Utf8(at)) {
      return false;
    }
    scratch_.append(buffer_.data() + keep_, at - keep_);
    position_ = at;
  }
  ++position_;
  value = scratch_;
  return true;
}

bool JsonScanner::Escape() {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
  const std::uint64_t begin = offset();
  ++position_;
  if (!IsAt(position_)) return CutOff();
  const char name = buffer_[position_++];
  if (const std::size_t index = kNames.find(name); index != std::string_view::npos) {
    scratch_ += kBytes[index];
    return true;
  }
  unsigned code = 0;
  if (name != 'u') return Fail(begin, "JSON has no such escape; run again what wrote it");
  if (!Hex4(code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    unsigned low = 0;
    if (!IsAt(position_)) return CutOff();
    if (buffer_[position_] != '\\') return Fail(begin, "half a character; run again what wrote it");
    ++position_;
    if (!IsAt(position_)) return CutOff();
    if (buffer_[position_] != 'u') return Fail(begin, "half a character; run again what wrote it");
    ++position_;
    if (!Hex4(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF)
      return Fail(begin, "half a character; run again what wrote it");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return Fail(begin, "half a character; run again what wrote it");
  }
  AppendUtf8(code, scratch_);
  return true;
}

bool JsonScanner::Hex4(unsigned& unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i) {
    if (!IsAt(position_)) return CutOff();
    const char* const digit = buffer_.data() + position_;
    unsigned value = 0;
    const auto [rest, error] = std::from_chars(digit, digit + 1, value, 16);
    if (error != std::errc()) return Fail(offset(), "\\u wants four hexadecimal digits");
    unit = unit * 16 + value;
    ++position_;
  }
  return true;
}

// Over one character that begins at `at`, which moves with the buffer.
bool JsonScanner::Utf8(std::size_t& at) {
  const auto sequence = SequenceOf(static_cast<unsigned char>(buffer_[at]));
  if (!sequence) return Fail(base_ + at, "a string is not UTF-8; run again what wrote it");
  ++at;
  for (int i = 0; i < sequence->followers; ++i, ++at) {
    if (!IsAt(at)) return CutOff();
    const auto byte = static_cast<unsigned char>(buffer_[at]);
    const unsigned char least = i == 0 ? sequence->least : 0x80;
    const unsigned char most = i == 0 ? sequence->most : 0xBF;
    if (byte < least || byte > most) {
      return Fail(base_ + at, "a string is not UTF-8; run again what wrote it");
    }
  }
  return true;
}

bool JsonScanner::NumberText(std::string_view& text, bool& is_integer) {
  keep_ = position_;
  std::size_t at = position_;
  const auto digits = [&] {
    const std::size_t first = at - keep_;
    while (IsAt(at) && IsDigit(buffer_[at])) ++at;
    return at - keep_ - first;
  };
  const auto is_one_of = [&](std::string_view bytes) {
    return IsAt(at) && bytes.find(buffer_[at]) != std::string_view::npos;
  };
  if (is_one_of("-")) ++at;
  const bool has_zero = is_one_of("0");
  const std::size_t whole = digits();
  bool is_good = whole == 1 || (whole > 1 && !has_zero);
  is_integer = true;
  if (is_one_of(".")) {
    is_integer = false;
    ++at;
    is_good = digits() != 0 && is_good;
  }
  if (is_one_of("eE")) {
    is_integer = false;
    ++at;
    if (is_one_of("+-")) ++at;
    is_good = digits() != 0 && is_good;
  }
  if (!is_good && !IsAt(at)) return CutOff();
  if (!is_good) return Fail(value_, "not a number as JSON has them; run again what wrote it");
  text = std::string_view(buffer_.data() + keep_, at - keep_);
  position_ = at;
  return true;
}

bool JsonScanner::Number() {
  std::string_view text;
  bool is_integer = false;
  if (!NumberText(text, is_integer)) return false;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (is_integer && std::from_chars(text.data(), end, whole).ec == std::errc()) {
    digest_ = DigestOfNumber(whole, kIntegerSeed);
    return true;
  }
  double number = 0;
  const std::errc error = std::from_chars(text.data(), end, number).ec;
  const bool is_tiny =
      text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  if (error == std::errc::result_out_of_range && !is_tiny) {
    return Fail(value_, "a number is too large; run again what wrote it");
  }
  digest_ = DigestOfNumber(number, kFractionSeed);
  return true;
}

bool JsonScanner::Integer(std::int64_t& value) {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  if (*type != JsonType::kNumber) return WrongType("a whole number");
  std::string_view text;
  bool is_integer = false;
  if (!NumberText(text, is_integer)) return false;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_integer || error != std::errc()) {
    return Refuse("a whole number of 64 bits is expected here; run again what wrote it");
  }
  digest_ = DigestOfNumber(value, kIntegerSeed);
  return true;
}

bool JsonScanner::Word(std::string_view word, std::uint64_t tag) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::size_t at = position_ + i;
    if (!IsAt(at)) return CutOff();
    if (buffer_[at] != word[i]) {
      return Fail(value_, "a word that is no value; run again what wrote it");
    }
  }
  position_ += word.size();
  digest_ = {tag, tag};
  return true;
}

bool JsonScanner::Null() {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  return *type == JsonType::kNull ? Word("null", 3) : WrongType("null");
}

bool JsonScanner::Any() {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  std::string_view text;
  switch (*type) {
    case JsonType::kObject:
      return Object([this](std::string_view) { return Any(); });
    case JsonType::kArray:
      return Array([this] { return Any(); });
    case JsonType::kString:
      return String(text);
    case JsonType::kNumber:
      return Number();
    case JsonType::kBoolean:
      return buffer_[position_] == 't' ? Word("true", 4) : Word("false", 5);
    case JsonType::kNull:
      return Word("null", 3);
  }
  return false;
}

bool JsonScanner::AtEnd() {
  if (!Space()) return !problem_;
  return Fail(offset(), "text after the end of the report; remove it");
}

std::uint64_t JsonScanner::BeginText() {
  Peek();
  XXH3_128bits_reset(text_->state);
  in_text_ = true;
  hashed_ = position_;
  return offset();
}

Digest JsonScanner::EndText() {
  XXH3_128bits_update(text_->state, buffer_.data() + hashed_, position_ - hashed_);
  in_text_ = false;
  const XXH128_hash_t hash = XXH3_128bits_digest(text_->state);
  return {hash.low64, hash.high64};
}

}  // namespace leakgate
