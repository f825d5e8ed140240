#include "runner/symbols/name_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/symbols/demangler.h"

namespace leakgate {
namespace {

// Bazel writes this as the directory of compilation, so that the output is the same on each
// machine. It means the compiler's working directory, which is another one than ours.
constexpr std::string_view kAnyDirectory = "/proc/self/cwd/";

constexpr std::string_view kOpening = "(<{[";
constexpr std::string_view kClosing = ")>}]";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kDecltype = "decltype";

// Returns the index one past the partner of the bracket at `at`. Arrows and operators within
// template arguments need no care: a demangler writes them in parentheses only.
std::size_t SkipBracket(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const bool arrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
    if (kOpening.find(text[at]) != std::string_view::npos) ++depth;
    if (kClosing.find(text[at]) != std::string_view::npos && !arrow && --depth == 0) return at + 1;
  }
  return text.size();
}

bool IsWordAt(std::string_view text, std::size_t at, std::string_view word) {
  if (text[at] != word[0] || text.substr(at, word.size()) != word) return false;
  if (at > 0 && text[at - 1] != ' ' && text[at - 1] != ':') return false;
  const std::size_t next = at + word.size();
  return next == text.size() ||
         (std::isalnum(static_cast<unsigned char>(text[next])) == 0 && text[next] != '_');
}

// Returns the index one past an operator's name at `at`: "operator()", "operator new[]",
// "operator bool", "operator<< <int>".
std::size_t SkipOperator(std::string_view text, std::size_t at) {
  at += kOperator.size();
  if (text.substr(at, 2) == "()") return at + 2;
  const std::size_t parameters = std::min(text.find('(', at), text.size());
  const std::size_t arguments = text.substr(0, parameters).find(" <", at);
  return arguments == std::string_view::npos ? parameters : SkipBracket(text, arguments + 1);
}

// Returns the index one past the "decltype(auto)" or "decltype (...)" at `at`.
std::size_t SkipDecltype(std::string_view text, std::size_t at) {
  return SkipBracket(text, std::min(text.find('(', at), text.size()));
}

std::string WithoutAbiTags(std::string_view name) {
  std::string plain;
  for (std::size_t tag; (tag = name.find("[abi:")) != std::string_view::npos;) {
    plain += name.substr(0, tag);
    name.remove_prefix(SkipBracket(name, tag));
  }
  return plain.append(name);
}

// Returns whether the parenthesis that ends before `after` is a part of the name:
// "(anonymous namespace)::", "Run(int)::".
bool NameGoesOn(std::string_view text, std::size_t after) {
  return text.substr(after, 2) == "::" || text.substr(after, 8) == " const::";
}

constexpr std::size_t kLongSignature = 80;
constexpr std::size_t kLongestSignature = 160;
constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Returns the position behind the bracket that closes the one at `open`. The arrow of
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

// Returns where an operator whose name has brackets begins in `name`, such as "operator()",
// "operator<<" or "operator->"; the name's end if there is none.
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

// Replaces the text in the outermost brackets of `text`: "Put(int)" with "(..)" becomes "Put(..)".
// Empty brackets stay.
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

// Returns the name with aliases of the standard library, and its template arguments and then its
// parameters cut where it is long.
std::string Shortened(std::string_view function) {
  std::string readable = WithStandardAliases(function);
  if (readable.size() > kLongSignature && !HasBracketOperator(readable)) {
    readable = WithBracketsAs("<..>", readable, '<', '>');
  }
  if (readable.size() > kLongSignature) readable = WithBracketsAs("(..)", readable, '(', ')');
  if (readable.size() > kLongSignature) ReplaceAll(readable, std::string(kAnonymous) + "::", "");
  return readable;
}

std::string ParseQualifiedName(std::string_view function) {
  std::size_t begin = 0;
  std::size_t at = 0;
  while (at < function.size()) {
    if (IsWordAt(function, at, kOperator)) {
      at = SkipOperator(function, at);
    } else if (IsWordAt(function, at, kDecltype)) {
      at = SkipDecltype(function, at);
    } else if (function[at] == ' ') {
      begin = ++at;  // what was before is the return type
    } else if (function[at] == '(') {
      const std::size_t after = SkipBracket(function, at);
      if (!NameGoesOn(function, after)) break;
      at = after + (function.substr(after, 8) == " const::" ? 6 : 0);
    } else if (kOpening.find(function[at]) != std::string_view::npos) {
      at = SkipBracket(function, at);
    } else {
      ++at;
    }
  }
  return WithoutAbiTags(function.substr(begin, at - begin));
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

}  // namespace

std::string Demangle(const std::string& symbol) {
  // Neither mangled names of C++ nor names of C have a dot.
  const std::size_t dot = symbol.find('.', 1);
  const std::string plain = symbol.substr(0, dot);
  if (plain.rfind("_Z", 0) != 0) return plain;

  return DemangledName(plain).value_or(plain);
}

std::string SourcePath(const char* directory, const char* file) {
  if (file == nullptr) return {};
  // An absolute `file` replaces the directory.
  const std::filesystem::path base = PathOf(directory != nullptr ? directory : "");
  std::string path = PathText((base / PathOf(file)).lexically_normal());
  if (path.starts_with(kAnyDirectory)) path.erase(0, kAnyDirectory.size());
  return path;
}

// The stacks of a run share most of their frames, and each is asked for its name several times.
std::string QualifiedNameOf(std::string_view function) {
  using Names = std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>;
  constexpr std::size_t kMostKnown = 4096;
  // Not of each thread: mingw-w64 frees a thread's variables before it runs their destructors.
  // Never destroyed, because other threads may still use it when the process exits.
  static std::mutex& mutex = *new std::mutex;
  static Names& known = *new Names;
  const std::lock_guard lock(mutex);
  const auto found = known.find(function);
  if (found != known.end()) return found->second;
  if (known.size() == kMostKnown) known.clear();
  return known.emplace(function, ParseQualifiedName(function)).first->second;
}

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
  std::string readable = Shortened(function);
  if (readable.size() > kLongestSignature) readable = ShortName(function);
  return CutMiddle(readable, kLongestSignature);
}

std::string ReadableName(std::string_view function) {
  return CutMiddle(Shortened(QualifiedNameOf(function)), kLongSignature);
}

std::string CutMiddle(std::string_view text, std::size_t most) {
  constexpr std::string_view kCut = " ... ";
  std::vector<std::size_t> characters;  // where each begins
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!goes_on) characters.push_back(i);
  }
  if (characters.size() <= std::max(most, kCut.size())) return std::string(text);
  const std::size_t kept = std::max(most, kCut.size()) - kCut.size();
  const std::size_t head = characters[kept / 2];
  const std::size_t tail_length = kept - kept / 2;
  const std::size_t tail =
      tail_length == 0 ? text.size() : characters[characters.size() - tail_length];
  return std::string(text.substr(0, head)).append(kCut).append(text.substr(tail));
}

}  // namespace leakgate
