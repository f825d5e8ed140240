#include "runner/merge/json_number.h"

namespace leakgate {
namespace {

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// Walks over a number's text, as far as it goes.
class NumberRules {
 public:
  explicit NumberRules(JsonText& text) : text_(text), at_(text.next()) {}

  // A digit at least, and no zero before others.
  bool SkipWhole() {
    SkipOneOf("-");
    const bool has_zero = IsOneOf("0");
    const std::size_t digits = SkipDigits();
    return digits == 1 || (digits > 1 && !has_zero);
  }

  // Each is good if it is not there.
  bool SkipFraction() { return !SkipOneOf(".") || HasMore(SkipDigits()); }
  bool SkipExponent() {
    if (!SkipOneOf("eE")) return true;
    SkipOneOf("+-");
    return HasMore(SkipDigits());
  }

  [[nodiscard]] bool is_integer() const { return is_integer_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  bool IsAtEnd() { return !text_.IsAt(at_); }

 private:
  bool HasMore(std::size_t digits) {
    is_integer_ = false;
    return digits != 0;
  }

  bool IsOneOf(std::string_view bytes) {
    return text_.IsAt(at_) && bytes.find(text_[at_]) != std::string_view::npos;
  }

  bool SkipOneOf(std::string_view bytes) {
    const bool is_one = IsOneOf(bytes);
    if (is_one) ++at_;
    return is_one;
  }

  std::size_t SkipDigits() {
    std::size_t count = 0;
    for (; text_.IsAt(at_) && IsDigit(text_[at_]); ++at_) ++count;
    return count;
  }

  JsonText& text_;
  std::size_t at_;
  bool is_integer_ = true;
};

}  // namespace

bool ReadJsonNumber(JsonText& text, JsonNumber& number) {
  text.BeginToken();
  const std::uint64_t begin = text.offset();
  NumberRules rules(text);
  const bool has_whole = rules.SkipWhole();
  const bool has_fraction = rules.SkipFraction();
  const bool has_exponent = rules.SkipExponent();
  if (!has_whole || !has_fraction || !has_exponent) {
    if (rules.IsAtEnd()) return text.CutOff();
    return text.Fail(begin, "not a number as JSON has them; run again what wrote it");
  }
  number = {text.Token(rules.at()), rules.is_integer()};
  text.MoveTo(rules.at());
  return true;
}

}  // namespace leakgate
