#include "runner/attribution/stack_pattern.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "runner/base/path_text.h"
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

// Compares a pattern with the path of a file on Windows, whose letters may be of either case.
bool MatchesFolded(const std::string& glob, const std::string& path) {
  if (IsWindowsPath(glob)) return MatchesGlob(glob, path);
  if (glob.starts_with('/')) return MatchesGlob("?:" + glob, path);  // on any drive
  return MatchesGlob("*/" + glob, path);
}

bool MatchesFrame(std::string_view pattern, const NamedFrame& frame) {
  if (pattern.starts_with(kModulePrefix)) {
    return MatchesModule(pattern.substr(kModulePrefix.size()), frame);
  }
  return NamesFile(pattern) ? MatchesFile(pattern, frame) : MatchesFunction(pattern, frame);
}

// Returns whether a glob says anything at all: "*" does not, nor does "module:*".
bool IsOfWildcards(std::string_view glob) {
  if (glob.starts_with(kModulePrefix)) glob.remove_prefix(kModulePrefix.size());
  return glob.find_first_not_of("*?/") == std::string_view::npos;
}

}  // namespace

NamedFrame::NamedFrame(const Frame& named)
    : frame(named), function(QualifiedNameOf(named.function)) {}

std::vector<NamedFrame> NameFrames(const std::vector<Frame>& stack) {
  return {stack.begin(), stack.end()};
}

bool NamesFile(std::string_view pattern) {
  return pattern.find_first_of("/\\") != std::string_view::npos &&
         pattern.find(kDivision) == std::string_view::npos;
}

bool MatchesFunction(std::string_view glob, const NamedFrame& frame) {
  return !frame.function.empty() && MatchesGlob(glob, frame.function);
}

bool MatchesFile(std::string_view glob, const NamedFrame& named) {
  const std::string& path = named.frame.file;
  if (path.empty()) return false;
  if (IsWindowsPath(path)) return MatchesFolded(FoldedPath(glob), FoldedPath(path));
  if (glob.starts_with('/')) return MatchesGlob(glob, path);
  // Debug information may have relative paths, too.
  const std::string file = "/" + path;
  return MatchesGlob(glob, file) || MatchesGlob("*/" + std::string(glob), file);
}

bool MatchesModule(std::string_view glob, const NamedFrame& frame) {
  const std::string& path = frame.frame.module;
  if (IsWindowsPath(path)) return MatchesGlob(FoldedPath(glob), FoldedPath(FileName(path)));
  return !path.empty() && MatchesGlob(glob, FileName(path));
}

// The first frame that matches is always as good as a later one.
bool MatchesStack(const std::vector<std::string>& patterns, const std::vector<NamedFrame>& stack) {
  return FitStack(patterns, stack, std::nullopt).has_value();
}

bool MatchesStack(const std::vector<std::string>& patterns, const std::vector<Frame>& stack) {
  return MatchesStack(patterns, NameFrames(stack));
}

std::optional<PatternFit> FitStack(const std::vector<std::string>& patterns,
                                   const std::vector<NamedFrame>& stack,
                                   std::optional<std::size_t> user_frame) {
  PatternFit fit;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < stack.size() && matched < patterns.size(); ++i) {
    if (!MatchesFrame(patterns[matched], stack[i])) continue;
    if (matched == 0) fit.frame = std::max(i, user_frame.value_or(0));
    fit.length += patterns[matched].size();
    ++matched;
  }
  if (matched != patterns.size()) return std::nullopt;
  if (!patterns.empty() && IsOfWildcards(patterns.front())) fit.frame = stack.size();
  return fit;
}

std::vector<const AppliedAllowance*> FindAllowances(const std::vector<AppliedAllowance>& allowances,
                                                    const Finding& site) {
  if (allowances.empty()) return {};
  const std::vector<NamedFrame> stack = NameFrames(site.stack);
  std::vector<std::pair<PatternFit, const AppliedAllowance*>> fits;
  for (const AppliedAllowance& allowance : allowances) {
    const auto fit = FitStack(allowance.stack, stack, site.user_frame);
    if (fit) fits.emplace_back(*fit, &allowance);
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const auto& a, const auto& b) { return a.first.IsCloserThan(b.first); });
  std::vector<const AppliedAllowance*> found;
  for (const auto& [fit, allowance] : fits) found.push_back(allowance);
  return found;
}

}  // namespace leakgate
