#include "runner/budget/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runner/budget/json_syntax.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

// The line of the last character read. A newline belongs to the line that it
// ends, so that the one character which the lexer reads ahead of a number
// cannot move the number to the next line.
struct LineCounter {
  int line = 1;
  int next_line = 1;

  void Count(char read) {
    line = next_line;
    if (read == '\n') ++next_line;
  }
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, LineCounter* counter) : at_(at), counter_(counter) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    counter_->Count(*at_++);
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  LineCounter* counter_;
};

// Receives what nlohmann's parser reads, and builds the tree of it. Stops at
// the first problem.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const std::filesystem::path& file, std::string_view text, const LineCounter& counter)
      : file_(file), text_(text), counter_(counter) {}

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
    std::vector<LocatedMember>& members = open_.back()->members;
    const auto first = std::find_if(members.begin(), members.end(),
                                    [&](const LocatedMember& member) { return member.key == key; });
    if (first != members.end()) {
      return Fail(fmt::format("{} is set twice, here and on line {}; keep one of the two",
                              Quoted(key), first->line));
    }
    members.push_back({.key = std::move(key), .line = counter_.line, .value = {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    return Fail(fmt::format("not valid JSON: {}",
                            ExplainSyntaxError(text_.substr(0, position), problem.what())));
  }

  // REQUIRES: the parser has returned. Leaves nothing behind.
  Expected<LocatedValue> TakeResult() {
    if (error_) return Unexpected(*std::move(error_));
    return std::move(root_);
  }

 private:
  // Where the next value goes. Pointers to the open ones stay good: a container
  // does not grow while a value inside it is open.
  LocatedValue& NextPlace() {
    if (open_.empty()) return root_;
    LocatedValue& parent = *open_.back();
    if (parent.kind == JsonKind::kObject) return parent.members.back().value;
    return parent.elements.emplace_back();
  }

  LocatedValue& NextValue(JsonKind kind) {
    LocatedValue& value = NextPlace();
    value.kind = kind;
    value.line = counter_.line;
    return value;
  }

  bool Scalar(JsonKind kind, std::string text) {
    NextValue(kind).text = std::move(text);
    return true;
  }

  bool Open(JsonKind kind) {
    if (open_.size() == kMaxJsonDepth) {
      return Fail(
          fmt::format("nested deeper than {} levels; a budget needs at most 6", kMaxJsonDepth));
    }
    open_.push_back(&NextValue(kind));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  bool Fail(std::string_view problem) {
    error_ = ErrorAt(file_, counter_.line, problem).value();
    return false;
  }

  const std::filesystem::path& file_;
  std::string_view text_;
  const LineCounter& counter_;
  LocatedValue root_;
  std::vector<LocatedValue*> open_;  // outermost first
  std::optional<Error> error_;
};

int LineOf(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace

Unexpected ErrorAt(const std::filesystem::path& file, int line, std::string_view problem) {
  return UsageError(fmt::format("{}:{}: {}", file.string(), line, problem));
}

Expected<LocatedValue> ParseLocatedJson(const std::filesystem::path& file, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return ErrorAt(file, 1, "the file is empty; write at least {\"component\": \"NAME\"}");
  }
  // The parser would take a NUL byte for the end, and pass what follows it.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return ErrorAt(file, LineOf(text, nul),
                   "not valid JSON: a NUL byte; save the file as UTF-8 text");
  }
  LineCounter counter;
  TreeBuilder builder(file, text, counter);
  Json::sax_parse(CountingIterator(text.data(), &counter),
                  CountingIterator(text.data() + text.size(), &counter), &builder);
  return builder.TakeResult();
}

}  // namespace leakgate
