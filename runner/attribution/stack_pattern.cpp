#include "runner/attribution/stack_pattern.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "runner/budget/wording.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

constexpr std::string_view kModulePrefix = "module:";
constexpr std::string_view kDivision = "operator/";  // the one function with a '/' in its name

std::string_view FileName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool NamesFile(std::string_view pattern) {
  return pattern.find('/') != std::string_view::npos &&
         pattern.find(kDivision) == std::string_view::npos;
}

bool MatchesFrame(std::string_view pattern, const NamedFrame& frame) {
  if (pattern.starts_with(kModulePrefix)) {
    return MatchesModule(pattern.substr(kModulePrefix.size()), frame);
  }
  return NamesFile(pattern) ? MatchesFile(pattern, frame) : MatchesFunction(pattern, frame);
}

// Returns whether a person could write the name, and the compiler's next version would keep it.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.find_first_of("<{*?") == std::string_view::npos &&
         name.find("operator") == std::string_view::npos;
}

// Returns "net/pool.cc" for "/home/me/src/net/pool.cc", which is the same on another machine.
std::string ShortFile(std::string_view path) {
  const std::string_view name = FileName(path);
  const std::string_view folder = path.substr(0, path.size() - name.size());
  if (folder.size() < 2) return "*/" + std::string(name);
  return std::string(FileName(folder.substr(0, folder.size() - 1))) + "/" + std::string(name);
}

std::optional<std::string> PatternOf(const Frame& frame) {
  const std::string name = QualifiedNameOf(frame.function);
  if (IsPlainName(name)) return name;
  if (!frame.file.empty()) return ShortFile(frame.file);
  if (!frame.module.empty()) return std::string(kModulePrefix).append(FileName(frame.module));
  return std::nullopt;
}

}  // namespace

NamedFrame::NamedFrame(const Frame& named)
    : frame(named), function(QualifiedNameOf(named.function)) {}

std::vector<NamedFrame> NameFrames(const std::vector<Frame>& stack) {
  return {stack.begin(), stack.end()};
}

bool MatchesFunction(std::string_view glob, const NamedFrame& frame) {
  return !frame.function.empty() && MatchesGlob(glob, frame.function);
}

bool MatchesFile(std::string_view glob, const NamedFrame& named) {
  const std::string& path = named.frame.file;
  if (path.empty()) return false;
  if (glob.starts_with('/')) return MatchesGlob(glob, path);
  // Debug information may have relative paths, too.
  const std::string file = "/" + path;
  return MatchesGlob(glob, file) || MatchesGlob("*/" + std::string(glob), file);
}

bool MatchesModule(std::string_view glob, const NamedFrame& frame) {
  const std::string& path = frame.frame.module;
  return !path.empty() && MatchesGlob(glob, FileName(path));
}

// The first frame that matches is always as good as a later one.
bool MatchesStack(const std::vector<std::string>& patterns, const std::vector<NamedFrame>& stack) {
  auto pattern = patterns.begin();
  for (const NamedFrame& frame : stack) {
    if (pattern == patterns.end()) break;
    if (MatchesFrame(*pattern, frame)) ++pattern;
  }
  return pattern == patterns.end();
}

bool MatchesStack(const std::vector<std::string>& patterns, const std::vector<Frame>& stack) {
  return MatchesStack(patterns, NameFrames(stack));
}

std::vector<std::string> SuggestPattern(const Finding& finding) {
  if (finding.stack.empty()) return {};
  const Frame& frame = finding.stack[finding.user_frame.value_or(0)];
  const std::optional<std::string> pattern = PatternOf(frame);
  if (!pattern) return {};
  return {*pattern};
}

}  // namespace leakgate
