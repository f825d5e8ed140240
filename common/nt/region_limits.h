// How large the tables of a region are on Windows. Memory of a section is charged when it is
// committed, whether it is touched or not, and the kernel keeps 8 bytes for each page of a section,
// committed or not. So the tables are smaller than on Linux, and chunks are, too:
//
//   committed at launch         tables that are small, and the first pieces of the others: 5 MiB
//   committed as they fill up   the others, by pieces of 64 KiB (MakeRoom in the agent)
//   committed as they are used  buffers of events, likewise
//   committed as the heap grows 2 MiB for each chunk, so for 4 MiB of addresses
//   the kernel's own bytes      35 MiB for the 17 GiB of all chunks
//
// A process that needs more has drops, as on Linux, and its verdicts are inconclusive.
#pragma once

#include <cstdint>

namespace leakgate {

inline constexpr std::uint32_t kAddressBits = 47;  // of user mode
// Blocks may be 16 bytes apart, so each granule has room for both words of a small block
// (live_slot.h).
inline constexpr std::uint64_t kWordsPerGranule = 2;
// A chunk of the live map is for so many bits of addresses.
inline constexpr std::uint32_t kChunkShift = 22;
// Nobody says which pages of a section have been written, so the agent does.
inline constexpr bool kNotesTouchedPages = true;

inline constexpr std::uint32_t kMaxWindows = 1U << 17;
inline constexpr std::uint32_t kMaxTextBytes = 1U << 24;
inline constexpr std::uint32_t kMaxEarlierFrees = 1U << 20;
inline constexpr std::uint32_t kMaxMappings = 1U << 18;
inline constexpr std::uint32_t kMaxMeasuringWindows = 1U << 16;
inline constexpr std::uint32_t kMaxStackNodes = 1U << 21;
inline constexpr std::uint32_t kMaxChunks = 1U << 13;

}  // namespace leakgate
