// Words and sizes, as messages show them and as users write them. All functions are pure.
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

}  // namespace leakgate
