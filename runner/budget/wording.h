// Words of a budget file, as messages show them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leakgate {

// `text` in double quotes, on one line: control characters are escaped.
[[nodiscard]] std::string Quoted(std::string_view text);

// "a", "b" or "c": each word quoted, the last two joined by `conjunction`.
[[nodiscard]] std::string QuotedList(const std::vector<std::string_view>& words,
                                     std::string_view conjunction);

// The word that `typed` was probably meant to be: at most two letters differ,
// and fewer than half. The first one where several are as near.
[[nodiscard]] std::optional<std::string_view> Nearest(std::string_view typed,
                                                      const std::vector<std::string_view>& words);

}  // namespace leakgate
