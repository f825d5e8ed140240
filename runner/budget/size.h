// Sizes as people write them: "64 KiB", "1.5 MiB", "10 kB", "200 B". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace leakgate {

// The bytes that `text` stands for. B, kB, MB and GB are powers of 1000, KiB,
// MiB and GiB of 1024; the space before the unit may be left out. A fraction
// must come to a whole number of bytes. The error says what is wrong with
// `text` and what to write instead, in one line.
[[nodiscard]] tl::expected<std::int64_t, std::string> ParseSize(std::string_view text);

}  // namespace leakgate
