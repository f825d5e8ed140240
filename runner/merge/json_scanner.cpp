// Millions of short texts are hashed: without a call for each.
#define XXH_INLINE_ALL
#include "runner/merge/json_scanner.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstring>

#include "runner/merge/json_number.h"
#include "runner/merge/json_string.h"

namespace leakgate {
namespace {

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

}  // namespace

Digest JsonScanner::Combine(const Digest& a, const Digest& b) {
  const std::array<std::uint64_t, 4> words = {a.low, a.high, b.low, b.high};
  const XXH128_hash_t hash = XXH3_128bits(words.data(), sizeof words);
  return {hash.low64, hash.high64};
}

bool JsonScanner::Refuse(std::string text) { return text_.Fail(value_, std::move(text)); }

std::optional<JsonType> JsonScanner::Peek() {
  if (!text_.SkipSpace()) {
    text_.CutOff();
    return std::nullopt;
  }
  value_ = offset();
  switch (text_.Next()) {
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
  const bool is_digit = text_.Next() >= '0' && text_.Next() <= '9';
  if (is_digit || text_.Next() == '-') return JsonType::kNumber;
  text_.Fail(value_, "no JSON value begins here; correct it, or run again what wrote it");
  return std::nullopt;
}

bool JsonScanner::WrongType(std::string_view wanted) {
  if (!Peek()) return false;
  return text_.Fail(value_, fmt::format("{} is expected here; run again what wrote it", wanted));
}

bool JsonScanner::Open(char bracket, std::string_view what) {
  if (!Peek()) return false;
  if (text_.Next() != bracket) return WrongType(what);
  if (++depth_ > kMostDepth) {
    return text_.Fail(offset(), fmt::format("nested deeper than {}; no report is", kMostDepth));
  }
  text_.Advance();
  return true;
}

bool JsonScanner::Close(char bracket, bool is_first) {
  if (!text_.SkipSpace()) {
    text_.CutOff();
    return true;
  }
  if (text_.Next() == bracket) {
    text_.Advance();
    return true;
  }
  ++values_;
  if (is_first) return false;
  if (text_.Next() != ',') {
    text_.Fail(offset(),
               fmt::format("neither ',' nor '{}' after a value; run again what wrote it", bracket));
    return true;
  }
  text_.Advance();
  return false;
}

bool JsonScanner::TooManyKeys() {
  return text_.Fail(
      offset(), fmt::format("more than {} keys in one object; run again what wrote it", kMostKeys));
}

bool JsonScanner::Finish(const Digest& digest) {
  if (problem()) return false;
  --depth_;
  digest_ = digest;
  return true;
}

bool JsonScanner::Key(std::string& key) {
  if (!text_.SkipSpace()) return text_.CutOff();
  if (text_.Next() != '"') {
    return text_.Fail(offset(), "a key in double quotes is expected here; run again what wrote it");
  }
  std::string_view text;
  if (!ReadJsonString(text_, scratch_, text)) return false;
  key.assign(text);
  digest_ = DigestOf(key, kStringSeed);
  if (!text_.SkipSpace()) return text_.CutOff();
  if (text_.Next() != ':') {
    return text_.Fail(offset(), "no ':' after a key; run again what wrote it");
  }
  text_.Advance();
  return true;
}

bool JsonScanner::String(std::string_view& value) {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  if (*type != JsonType::kString) return WrongType("a string");
  if (!ReadJsonString(text_, scratch_, value)) return false;
  digest_ = DigestOf(value, kStringSeed);
  return true;
}

bool JsonScanner::Number() {
  JsonNumber number;
  if (!ReadJsonNumber(text_, number)) return false;
  const std::string_view text = number.text;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (number.is_integer && std::from_chars(text.data(), end, whole).ec == std::errc()) {
    digest_ = DigestOfNumber(whole, kIntegerSeed);
    return true;
  }
  double fraction = 0;
  const std::errc error = std::from_chars(text.data(), end, fraction).ec;
  const bool is_tiny =
      text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  if (error == std::errc::result_out_of_range && !is_tiny) {
    return text_.Fail(value_, "a number is too large; run again what wrote it");
  }
  digest_ = DigestOfNumber(fraction, kFractionSeed);
  return true;
}

bool JsonScanner::Integer(std::int64_t& value) {
  const std::optional<JsonType> type = Peek();
  if (!type) return false;
  if (*type != JsonType::kNumber) return WrongType("a whole number");
  JsonNumber number;
  if (!ReadJsonNumber(text_, number)) return false;
  const std::string_view text = number.text;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!number.is_integer || error != std::errc()) {
    return Refuse("a whole number of 64 bits is expected here; run again what wrote it");
  }
  digest_ = DigestOfNumber(value, kIntegerSeed);
  return true;
}

bool JsonScanner::Word(std::string_view word, std::uint64_t tag) {
  for (const char letter : word) {
    if (!text_.HasNext()) return text_.CutOff();
    if (text_.Next() != letter) {
      return text_.Fail(value_, "a word that is no value; run again what wrote it");
    }
    text_.Advance();
  }
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
      return text_.Next() == 't' ? Word("true", 4) : Word("false", 5);
    case JsonType::kNull:
      return Word("null", 3);
  }
  return false;
}

bool JsonScanner::AtEnd() {
  if (!text_.SkipSpace()) return !problem();
  return text_.Fail(offset(), "text after the end of the report; remove it");
}

std::uint64_t JsonScanner::BeginText() {
  Peek();
  text_.BeginDigest();
  return text_.offset();
}

Digest JsonScanner::EndText() { return text_.EndDigest(); }

}  // namespace leakgate
