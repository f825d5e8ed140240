// Words of a budget file, as messages show them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
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

// Sizes as people write them: "64 KiB", "1.5 MiB", "10 kB", "200 B". Pure.

// The bytes that `text` stands for. B, kB, MB and GB are powers of 1000, KiB,
// MiB and GiB of 1024; the space before the unit may be left out. A fraction
// must come to a whole number of bytes. The error says what is wrong with
// `text` and what to write instead, in one line.
[[nodiscard]] tl::expected<std::int64_t, std::string> ParseSize(std::string_view text);

}  // namespace leakgate
