// GoogleTest's filters and globs, with GoogleTest's own meaning. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

// True if `glob` matches the whole of `name`: '*' stands for any text, '?' for
// any one character.
[[nodiscard]] bool MatchesGlob(std::string_view glob, std::string_view name);

// True if `name` matches a GoogleTest filter: patterns of `*` and `?`,
// separated by ':', after the first '-' those to leave out. Where only those
// are given, everything else matches.
[[nodiscard]] bool MatchesFilter(const std::string& filter, const std::string& name);

// True if any of `filters` matches `name`.
[[nodiscard]] bool MatchesAnyFilter(const std::vector<std::string>& filters,
                                    const std::string& name);

}  // namespace leakgate
