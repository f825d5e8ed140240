#include "runner/symbols/function_text.h"

#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

constexpr std::size_t kLongSignature = 80;
constexpr std::size_t kLongestSignature = 160;
constexpr std::string_view kAnonymous = "(anonymous namespace)";

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

// The part of `name` that is an operator's, which its brackets belong to:
// "operator()", "operator<<", "operator->"; the name's end if there is none.
std::size_t FindOperator(std::string_view name) {
  const std::size_t at = name.rfind("operator");
  if (at == std::string_view::npos) return name.size();
  const std::string_view symbol = name.substr(at + std::string_view("operator").size());
  const bool is_symbol =
      !symbol.empty() && std::string_view("()<>-").find(symbol[0]) != std::string_view::npos;
  return is_symbol ? at : name.size();
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// "{lambda(int)#1}" -> "{lambda}"; parameters are gone by then.
std::string WithShortLambdas(std::string name) {
  constexpr std::string_view kLambda = "{lambda";
  for (std::size_t at = name.find(kLambda); at != std::string::npos;
       at = name.find(kLambda, at + kLambda.size())) {
    const std::size_t number = at + kLambda.size();
    const std::size_t end = name.find('}', number);
    if (end != std::string::npos) name.erase(number, end - number);
  }
  return name;
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

// `text` with what stands in its outermost brackets replaced: "Put(int)" with
// "(..)" becomes "Put(..)". Brackets around nothing stay.
std::string WithBracketsAs(std::string_view replacement, std::string_view text, char opening,
                           char closing) {
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
    const bool is_empty = end - at == 2;
    cut += is_empty && !replacement.empty() ? text.substr(at, 2) : replacement;
    at = end;
  }
  return cut;
}

bool HasBracketOperator(std::string_view function) {
  return function.find("operator<") != std::string_view::npos ||
         function.find("operator>") != std::string_view::npos ||
         function.find("operator-") != std::string_view::npos;
}

}  // namespace

std::string ShortName(std::string_view function) {
  const std::string name = QualifiedNameOf(function);
  const std::size_t operator_at = FindOperator(name);
  std::string scope = name.substr(0, operator_at);
  scope = WithBracketsAs("", scope, '<', '>');
  scope = WithBracketsAs("", scope, '(', ')');
  ReplaceAll(scope, " const::", "::");
  const std::string short_name = WithShortLambdas(scope) + name.substr(operator_at);
  return short_name.empty() ? std::string(function) : short_name;
}

std::string ReadableSignature(std::string_view function) {
  std::string readable = WithStandardAliases(function);
  if (readable.size() > kLongSignature && !HasBracketOperator(readable)) {
    readable = WithBracketsAs("<..>", readable, '<', '>');
  }
  if (readable.size() > kLongSignature) readable = WithBracketsAs("(..)", readable, '(', ')');
  if (readable.size() > kLongestSignature) readable = ShortName(function);
  return readable;
}

}  // namespace leakgate
