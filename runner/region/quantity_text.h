// Numbers as a person reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "runner/region/amount.h"

namespace leakgate {

// "128 B", "9999 B", "1.5 MiB": exact below 10 KiB, so that small findings add up.
// The unit is that of the magnitude, the sign is kept.
[[nodiscard]] std::string FormatBytes(std::int64_t bytes);

// "1 block", "2 blocks". `noun` is in the singular and takes an s.
[[nodiscard]] std::string FormatCount(std::int64_t count, std::string_view noun);

// "64 B in 1 block".
[[nodiscard]] std::string FormatAmount(Amount amount);

// The same of mappings: "64.0 KiB in 1 mapping".
[[nodiscard]] std::string FormatMapped(Amount amount);

// "+64 B (+1 block)", "-8 B (+0 blocks)": a change always has its sign.
[[nodiscard]] std::string FormatChange(Amount change);

// "0.4 ms", "41 ms", "2.31 s", "3 min 20 s".
[[nodiscard]] std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace leakgate
