// How large the tables of a region are on Linux, where only the touched parts of a memfd cost
// anything.
#pragma once

#include <cstdint>

namespace leakgate {

inline constexpr std::uint32_t kAddressBits = 48;
// How many words of the live map each granule has (live_slot.h).
inline constexpr std::uint64_t kWordsPerGranule = 1;
// A chunk of the live map is for so many bits of addresses.
inline constexpr std::uint32_t kChunkShift = 26;
// The kernel says which pages of a region have been written.
inline constexpr bool kNotesTouchedPages = false;

inline constexpr std::uint32_t kMaxWindows = 1U << 19;
inline constexpr std::uint32_t kMaxTextBytes = 1U << 25;
inline constexpr std::uint32_t kMaxEarlierFrees = 1U << 22;
inline constexpr std::uint32_t kMaxMappings = 1U << 18;
inline constexpr std::uint32_t kMaxMeasuringWindows = 1U << 18;
inline constexpr std::uint32_t kMaxStackNodes = 1U << 23;
inline constexpr std::uint32_t kMaxChunks = 1U << 12;

}  // namespace leakgate
