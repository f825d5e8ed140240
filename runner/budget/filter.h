// Globs and filters of test names. They mean the same as in GoogleTest. All functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

// Whether `glob` matches the whole `name`. '*' stands for any text, and '?' for any one character.
[[nodiscard]] bool MatchesGlob(std::string_view glob, std::string_view name);

// Whether `filter` matches `name`. A filter is a list of globs, separated by ':'. The globs behind
// the first '-' exclude names. A filter that only excludes names matches all others.
[[nodiscard]] bool MatchesFilter(const std::string& filter, const std::string& name);

[[nodiscard]] bool MatchesAnyFilter(const std::vector<std::string>& filters,
                                    const std::string& name);

}  // namespace leakgate
