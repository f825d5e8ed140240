#include "runner/budget/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

std::size_t ByteOrderMarkLength(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

// Finds the line and column of an offset into a text.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : begins_{ByteOrderMarkLength(text)} {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
      begins_.push_back(++at);
    }
  }

  // A line break belongs to the line that it ends.
  [[nodiscard]] TextPosition At(std::size_t offset) const {
    const auto next = std::upper_bound(std::next(begins_.begin()), begins_.end(), offset);
    const std::size_t begin = std::min(*std::prev(next), offset);
    return {static_cast<int>(std::distance(begins_.begin(), next)),
            static_cast<int>(offset - begin) + 1};
  }

 private:
  std::vector<std::size_t> begins_;  // the offsets of the lines' first bytes; never empty
};

struct Explanation {
  std::string_view symptom;  // a part of nlohmann/json's message
  std::string_view text;
};

// The first entry whose symptom is found explains the message.
constexpr std::array kExplanations = {
    Explanation{"ill-formed UTF-8", "a string is not UTF-8; save the file as UTF-8"},
    Explanation{"missing closing quote", "the text ends inside a string; close it with '\"'"},
    Explanation{"must be escaped",
                "a line break or control character in a string; close it with '\"' or write \\n"},
    Explanation{"number overflow", "a number is too large; write a smaller one"},
    Explanation{"unexpected end of input", "the text ends inside an object or array; close it"},
    Explanation{"expected end of input", "text after the end of the budget; remove it"},
    Explanation{"object key - ", "a key must be a string; put it in double quotes"},
    Explanation{"object separator - ", "no ':' after a key; write \"key\": value"},
    Explanation{"object - ", "neither ',' nor '}' after a value; add the one that is missing"},
    Explanation{"array - ", "neither ',' nor ']' after a value; add the one that is missing"},
    Explanation{"invalid literal", "a word that is no value; put it in double quotes"},
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Returns the closing bracket at the end of `read` if a comma precedes it, or else '\0'.
char BracketAfterComma(std::string_view read) {
  if (!read.ends_with('}') && !read.ends_with(']')) return '\0';
  const char bracket = read.back();
  read.remove_suffix(1);
  const std::size_t before = read.find_last_not_of(" \t\r\n");
  return before != std::string_view::npos && read[before] == ',' ? bracket : '\0';
}

// Removes the text that the parser quotes from the file, which may contain anything: invalid UTF-8,
// or words that look like a symptom.
std::string RemoveQuotation(std::string_view what) {
  const std::size_t begin = what.find("; last read: '");
  if (begin == std::string_view::npos) return std::string(what);
  const std::size_t end = what.rfind("'; expected ");
  const bool goes_on = end != std::string_view::npos && end > begin;
  return std::string(what.substr(0, begin)).append(goes_on ? what.substr(end + 1) : "");
}

// Returns the part of nlohmann/json's message that has the reason. It follows " - ".
std::string_view Reason(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  return dash == std::string_view::npos ? what : what.substr(dash + 3);
}

// Explains in plain words why a text is not JSON, as "problem; remedy". `read` is the text up to
// and including the token that the parser could not read, and `what` is nlohmann/json's message.
std::string ExplainSyntaxError(std::string_view read, std::string_view what) {
  const std::string message = RemoveQuotation(what);
  if (const char bracket = BracketAfterComma(read); bracket != '\0') {
    return fmt::format("a comma before '{}'; remove it", bracket);
  }
  if (read.ends_with('/') && Contains(message, "invalid literal")) {
    return "JSON has no comments; remove it";
  }
  const auto* known =
      std::find_if(kExplanations.begin(), kExplanations.end(),
                   [&](const Explanation& e) { return Contains(message, e.symptom); });
  if (known != kExplanations.end()) return std::string(known->text);
  return fmt::format("{}; correct it", Reason(message));
}

using Json = nlohmann::json;

// Counts the bytes that the parser has read, because the parser does not report its position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* read) : at_(at), read_(read) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*read_;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  std::size_t* read_;
};

// Receives what nlohmann's parser reads, and builds a tree from it. Stops at the first problem.
//
// The parser reports each token after it has read it, but not where the token begins. Between two
// reported tokens there are only blanks, ',' and ':', so a token begins behind those:
//
//   {"blocks": 2, "bytes": 4}
//              ^  ^
//              |  the begin of "bytes"
//              done_ points behind 2, once 2 is reported
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  // `read` is how many bytes of `text` the parser has read. It changes while the parser runs.
  TreeBuilder(const std::filesystem::path& file, std::string_view text, const std::size_t& read)
      : file_(file), text_(text), read_(read), lines_(text), done_(ByteOrderMarkLength(text)) {}

  bool null() override { return Scalar(JsonKind::kNull, "null"); }
  bool boolean(bool value) override { return Scalar(JsonKind::kBoolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return Scalar(JsonKind::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Scalar(JsonKind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& as_written) override {
    return Scalar(JsonKind::kNumber, as_written);
  }
  bool string(string_t& value) override { return Scalar(JsonKind::kString, std::move(value)); }
  bool binary(binary_t&) override { return Fail("binary values are not JSON; remove it"); }

  bool start_object(std::size_t) override { return Open(JsonKind::kObject); }
  bool start_array(std::size_t) override { return Open(JsonKind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& key) override {
    if (key.size() > kMaxJsonTextBytes) return FailAtLongText();
    std::vector<LocatedMember>& members = open_.back()->members;
    if (members.size() == kMaxJsonKeys) {
      return Fail(fmt::format("more than {} keys in one object; remove those that no budget has",
                              kMaxJsonKeys));
    }
    const auto first = std::find_if(members.begin(), members.end(),
                                    [&](const LocatedMember& member) { return member.key == key; });
    if (first != members.end()) {
      return Fail(fmt::format("{} is set twice, here and on line {}; keep one of the two",
                              Quoted(key), first->line));
    }
    const TextPosition at = lines_.At(NextToken());
    members.push_back({.key = std::move(key), .line = at.line, .column = at.column, .value = {}});
    done_ = read_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    return Fail(fmt::format("not valid JSON: {}",
                            ExplainSyntaxError(text_.substr(0, position), problem.what())));
  }

  // Moves the result out. REQUIRES: the parser has returned.
  Expected<LocatedValue> TakeResult() {
    if (error_) return Unexpected(*std::move(error_));
    return std::move(root_);
  }

 private:
  // Makes room in the tree for the next value. Returns nullptr if there are too many. Pointers to
  // open values stay valid, because a container does not grow while a value inside it is open.
  LocatedValue* NextPlace() {
    if (open_.empty()) return &root_;
    LocatedValue& parent = *open_.back();
    if (++values_ > kMaxJsonValues) {
      Fail(fmt::format("more than {} values; split the budget into several files", kMaxJsonValues));
      return nullptr;
    }
    if (parent.kind == JsonKind::kObject) return &parent.members.back().value;
    if (parent.elements.size() == kMaxJsonElements) {
      Fail(fmt::format("more than {} elements in one list; write fewer, with patterns",
                       kMaxJsonElements));
      return nullptr;
    }
    return &parent.elements.emplace_back();
  }

  // Returns the offset of the token that the parser has just read, or failed to read.
  [[nodiscard]] std::size_t NextToken() const {
    const std::size_t token = text_.find_first_not_of(" \t\r\n,:", done_);
    return std::min(token, read_ == 0 ? 0 : read_ - 1);
  }

  LocatedValue* NextValue(JsonKind kind) {
    LocatedValue* const value = NextPlace();
    if (value == nullptr) return nullptr;
    value->kind = kind;
    value->begin = NextToken();
    const TextPosition at = lines_.At(value->begin);
    value->line = at.line;
    value->column = at.column;
    return value;
  }

  bool FailAtLongText() {
    return Fail(fmt::format("a text of more than {} KiB; write several in its place",
                            kMaxJsonTextBytes >> 10));
  }

  bool Scalar(JsonKind kind, std::string text) {
    if (text.size() > kMaxJsonTextBytes) return FailAtLongText();
    LocatedValue* const value = NextValue(kind);
    if (value == nullptr) return false;
    value->text = std::move(text);
    // The parser must read the character behind a number to find the number's end.
    const bool is_ahead =
        kind == JsonKind::kNumber && kNumberCharacters.find(text_[read_ - 1]) == kNone;
    done_ = value->end = is_ahead ? read_ - 1 : read_;
    return true;
  }

  bool Open(JsonKind kind) {
    if (open_.size() == kMaxJsonDepth) {
      return Fail(
          fmt::format("nested deeper than {} levels; a budget needs at most 6", kMaxJsonDepth));
    }
    LocatedValue* const value = NextValue(kind);
    if (value == nullptr) return false;
    open_.push_back(value);
    done_ = read_;
    return true;
  }

  bool Close() {
    done_ = open_.back()->end = read_;
    open_.pop_back();
    return true;
  }

  bool Fail(std::string_view problem) {
    error_ = ErrorAt(file_, lines_.At(NextToken()), problem).value();
    return false;
  }

  static constexpr std::size_t kNone = std::string_view::npos;
  static constexpr std::string_view kNumberCharacters = "+-.0123456789Ee";

  const std::filesystem::path& file_;
  std::string_view text_;
  const std::size_t& read_;
  TextLines lines_;
  std::size_t done_;  // the end of the last reported token
  LocatedValue root_;
  std::vector<LocatedValue*> open_;  // the containers that are open; the outermost is first
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

const LocatedValue* LocatedValue::Find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [key](const LocatedMember& it) { return it.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Unexpected ErrorAt(const std::filesystem::path& file, TextPosition position,
                   std::string_view problem) {
  return UsageError(
      fmt::format("{}:{}:{}: {}", PathText(file), position.line, position.column, problem));
}

Expected<LocatedValue> ParseLocatedJson(const std::filesystem::path& file, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return ErrorAt(file, {}, "the file is empty; write at least {\"component\": \"NAME\"}");
  }
  // The parser would take a NUL byte for the end of the text, and ignore what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return ErrorAt(file, TextLines(text).At(nul),
                   "not valid JSON: a NUL byte; save the file as UTF-8 text");
  }
  std::size_t read = 0;
  TreeBuilder builder(file, text, read);
  Json::sax_parse(CountingIterator(text.data(), &read),
                  CountingIterator(text.data() + text.size(), &read), &builder);
  return builder.TakeResult();
}

}  // namespace leakgate
