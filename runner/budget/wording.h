// Words, sizes and patterns of test names, as messages show them and as users write them. All
// functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace leakgate {

// Returns `text` in double quotes and on one line, with control characters escaped.
[[nodiscard]] std::string Quoted(std::string_view text);

// Returns the quoted words as a list such as "a", "b" or "c". `conjunction` is what joins the last
// two.
[[nodiscard]] std::string QuotedList(const std::vector<std::string_view>& words,
                                     std::string_view conjunction);

// Returns the word that `typed` was probably meant to be: it differs in at most two letters, and in
// fewer than half of them. If several words are equally near, returns the first. Returns nullopt if
// no word is near.
[[nodiscard]] std::optional<std::string_view> FindNearestWord(
    std::string_view typed, const std::vector<std::string_view>& words);

// Returns the number of bytes that a size such as "64 KiB", "1.5MiB" or "200 B" stands for. B, kB,
// MB and GB are powers of 1000, and KiB, MiB and GiB are powers of 1024. The space before the unit
// is optional. A fraction must come to a whole number of bytes. The error is one line that tells
// what is wrong with `text`, and what to write instead.
[[nodiscard]] tl::expected<std::int64_t, std::string> ParseSize(std::string_view text);

// Returns whether `glob` matches the whole `name`, as in GoogleTest. '*' stands for any text, and
// '?' for any one character.
[[nodiscard]] bool MatchesGlob(std::string_view glob, std::string_view name);

// Returns whether `filter` matches `name`, as in GoogleTest. A filter is a list of globs, separated
// by ':'. The globs behind the first '-' exclude names. A filter that only excludes names matches
// all others.
[[nodiscard]] bool MatchesFilter(const std::string& filter, const std::string& name);

[[nodiscard]] bool MatchesAnyFilter(const std::vector<std::string>& filters,
                                    const std::string& name);

}  // namespace leakgate
