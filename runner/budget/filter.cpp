#include "runner/budget/filter.h"

#include <algorithm>

namespace leakgate {
namespace {

// Whether one of `globs`, which ':' separates, matches `name`. An empty glob only matches an empty
// name.
bool MatchesAnyGlob(std::string_view globs, std::string_view name) {
  while (true) {
    const std::size_t colon = globs.find(':');
    if (MatchesGlob(globs.substr(0, colon), name)) return true;
    if (colon == std::string_view::npos) return false;
    globs.remove_prefix(colon + 1);
  }
}

}  // namespace

bool MatchesGlob(std::string_view glob, std::string_view name) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0;
  std::size_t star = kNone;  // the position of the last '*' so far in `glob`
  std::size_t star_end = 0;  // the end of the text in `name` that this '*' stands for
  for (std::size_t i = 0; i < name.size();) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_end = i;
    } else if (at < glob.size() && (glob[at] == '?' || glob[at] == name[i])) {
      ++at;
      ++i;
    } else if (star != kNone) {
      at = star + 1;
      i = ++star_end;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', at) == kNone;
}

bool MatchesFilter(const std::string& filter, const std::string& name) {
  const std::string_view text = filter;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return MatchesAnyGlob(text, name);

  const std::string_view positive = text.substr(0, dash);
  if (!positive.empty() && !MatchesAnyGlob(positive, name)) return false;
  return !MatchesAnyGlob(text.substr(dash + 1), name);
}

bool MatchesAnyFilter(const std::vector<std::string>& filters, const std::string& name) {
  return std::any_of(filters.begin(), filters.end(),
                     [&name](const std::string& filter) { return MatchesFilter(filter, name); });
}

}  // namespace leakgate
