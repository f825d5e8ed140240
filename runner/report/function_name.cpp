#include "runner/report/function_name.h"

#include <cctype>
#include <utility>

namespace leakgate {
namespace {

constexpr std::size_t kLongSignature = 80;
constexpr std::size_t kLongestSignature = 160;
constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool IsIdentifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the bracket that opens at `open` is closed, one past it. The arrow of
// an expression closes nothing.
std::size_t PastBracket(std::string_view text, std::size_t open, char opening, char closing) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    const bool is_arrow = closing == '>' && i > 0 && text[i - 1] == '-';
    if (text[i] == closing && !is_arrow && --depth == 0) return i + 1;
  }
  return text.size();
}

bool IsOperatorAt(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kOperator)) return false;
  const std::size_t past = at + kOperator.size();
  const bool starts_word = at == 0 || !IsIdentifier(text[at - 1]);
  return starts_word && past < text.size() && !IsIdentifier(text[past]);
}

// The end of an operator's name: "operator()", "operator<<", "operator new".
std::size_t PastOperator(std::string_view text, std::size_t at) {
  const std::size_t past = at + kOperator.size();
  const std::size_t search_from = text.substr(past).starts_with("()") ? past + 2 : past;
  const std::size_t parameters = text.find('(', search_from);
  return parameters == std::string_view::npos ? text.size() : parameters;
}

// True if the parameters that end before `past` belong to an enclosing
// function of a local name: "Run()::{lambda()#1}", "Run() const::Local".
bool EnclosesALocalName(std::string_view text, std::size_t past) {
  std::string_view rest = text.substr(past);
  if (rest.starts_with(" const")) rest.remove_prefix(std::string_view(" const").size());
  return rest.starts_with("::");
}

// Walks over a demangled name and keeps the qualified name only.
class QualifiedNameScanner {
 public:
  explicit QualifiedNameScanner(std::string_view text) : text_(text) {}

  std::string Scan() {
    while (at_ < text_.size() && Step()) {
    }
    return std::move(name_);
  }

 private:
  // False at the end of the name.
  bool Step() {
    const char c = text_[at_];
    if (text_.substr(at_).starts_with(kAnonymous)) return Keep(at_ + kAnonymous.size());
    if (IsOperatorAt(text_, at_)) {
      Keep(PastOperator(text_, at_));
      return StepOverParameters();
    }
    if (c == '(') return StepOverParameters();
    if (c == '<') return SkipTo(PastBracket(text_, at_, '<', '>'));
    if (c == '{') return KeepBraces();
    if (c == ' ') return StepOverSpace();
    return Keep(at_ + 1);
  }

  bool Keep(std::size_t end) {
    name_ += text_.substr(at_, end - at_);
    return SkipTo(end);
  }

  bool SkipTo(std::size_t end) {
    at_ = end;
    return true;
  }

  bool KeepBraces() {  // "{lambda(int)#1}" -> "{lambda}"
    const bool is_lambda = text_.substr(at_).starts_with("{lambda");
    const std::size_t end = PastBracket(text_, at_, '{', '}');
    if (!is_lambda) return Keep(end);
    name_ += "{lambda}";
    return SkipTo(end);
  }

  bool StepOverParameters() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = PastBracket(text_, at_, '(', ')');
    if (!EnclosesALocalName(text_, end)) return false;
    return SkipTo(text_.find("::", end));
  }

  bool StepOverSpace() {  // what came before is a return type, what follows may be "[clone .cold]"
    if (text_.substr(at_).starts_with(" [")) return false;
    name_.clear();
    return SkipTo(at_ + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string name_;
};

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

std::string WithStandardAliases(std::string_view function) {
  std::string readable(function);
  ReplaceAll(readable, "std::__cxx11::", "std::");
  ReplaceAll(readable, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
             "std::string");
  ReplaceAll(readable, "std::basic_string_view<char, std::char_traits<char> >", "std::string_view");
  ReplaceAll(readable, "[abi:cxx11]", "");
  return readable;
}

// Each outermost `opening`..`closing` that is not empty, cut to "<..>".
std::string WithCutBrackets(std::string_view text, char opening, char closing) {
  std::string cut;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool is_name = text.substr(at).starts_with(kAnonymous);
    if (is_name || text[at] != opening) {
      const std::size_t length = is_name ? kAnonymous.size() : 1;
      cut += text.substr(at, length);
      at += length;
      continue;
    }
    const std::size_t end = PastBracket(text, at, opening, closing);
    cut += opening;
    if (end - at > 2) cut += "..";
    cut += closing;
    at = end;
  }
  return cut;
}

}  // namespace

std::string QualifiedName(std::string_view function) {
  std::string name = QualifiedNameScanner(function).Scan();
  return name.empty() ? std::string(function) : name;
}

std::string ReadableSignature(std::string_view function) {
  std::string readable = WithStandardAliases(function);
  const bool has_bracket_operator = readable.find("operator<") != std::string::npos ||
                                    readable.find("operator>") != std::string::npos ||
                                    readable.find("operator-") != std::string::npos;
  if (readable.size() > kLongSignature && !has_bracket_operator) {
    readable = WithCutBrackets(readable, '<', '>');
  }
  if (readable.size() > kLongSignature) readable = WithCutBrackets(readable, '(', ')');
  if (readable.size() > kLongestSignature) readable = QualifiedName(function);
  return readable;
}

}  // namespace leakgate
