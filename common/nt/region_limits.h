// How large the tables of a region are on Windows. Memory of a section is charged when it is
// committed, whether it is touched or not, and the kernel keeps 8 bytes for each page of a section,
// committed or not. So the tables are smaller than on Linux:
//
//   committed at launch         all but the chunks: 0.3 GiB
//   committed as the heap grows 32 MiB for each chunk, so for 64 MiB of addresses
//   the kernel's own bytes      33 MiB for the 16 GiB of all chunks
//
// A process that needs more has drops, as on Linux, and its verdicts are inconclusive.
#pragma once

#include <cstdint>

namespace leakgate {

inline constexpr std::uint32_t kAddressBits = 47;  // of user mode
// Blocks may be 16 bytes apart, so each granule has room for both words of a small block
// (live_slot.h).
inline constexpr std::uint64_t kWordsPerGranule = 2;
// Nobody says which pages of a section have been written, so the agent does.
inline constexpr bool kNotesTouchedPages = true;
inline constexpr bool kHasEventBuffers = false;

inline constexpr std::uint32_t kMaxWindows = 1U << 17;
inline constexpr std::uint32_t kMaxTextBytes = 1U << 24;
inline constexpr std::uint32_t kMaxEarlierFrees = 1U << 20;
inline constexpr std::uint32_t kMaxMappings = 1U << 12;
inline constexpr std::uint32_t kMaxMeasuringWindows = 1U << 16;
inline constexpr std::uint32_t kMaxStackNodes = 1U << 21;
inline constexpr std::uint32_t kMaxChunks = 1U << 9;

}  // namespace leakgate
