// What the debug C runtime of Windows (ucrtbased.dll, /MDd and /MTd) adds to each block: "CRT debug
// heap details" in Microsoft's documentation.
#pragma once

#include <cstdint>

namespace leakgate {

inline constexpr std::uint64_t kDebugHeaderBytes = 48;               // before it
inline constexpr std::uint64_t kDebugBytes = kDebugHeaderBytes + 4;  // with those behind it

}  // namespace leakgate
