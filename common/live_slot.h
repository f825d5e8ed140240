// How one live block is written in the live map: two 4-byte words, and two more if it is large.
// Where blocks have at least two granules of 16 bytes, there is a word for each granule:
//
//   address  0x5580'0000'1040  0x..1050  0x..1060  0x..1070
//   slot     start word        rest word  0         0        <- a 56-byte block
//   slot     start word        rest word  size low  size high   a 4 KiB block
//
// On Linux, a block is at least 24 usable bytes long (glibc), and the agent asks every
// other allocator for at least 32, so two granules are always the block's own. On Windows, where
// the next block may begin 16 bytes further on, each granule has two words (kWordsPerGranule).
//
// The top bit distinguishes a start word from all others, so a reader in another process never
// takes one for the other while the block changes hands. If a reader finds the same start word and
// rest word once more after it has read the size, it has read one block. After the rest word of a
// smaller block, words of an earlier block may be left.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

//   start word   31      1: this is a start word
//                30..27  kind
//                26..0   stack id
struct LiveStart {
  std::uint32_t stack;
  AllocationKind kind;
};

//   rest word    31      0
//                30..22  size in bytes, or kSizeFollows
//                21..0   context: window and thread (region_layout.h, ContextRecord)
struct LiveRest {
  std::uint32_t short_size;
  std::uint32_t context;
};

inline constexpr std::uint32_t kLiveStartBit = 1U << 31;
inline constexpr std::uint32_t kStackBits = 27;
inline constexpr std::uint32_t kContextBits = 22;
inline constexpr std::uint32_t kContextMask = (1U << kContextBits) - 1;
// The size is in the two words that follow, 31 bits each, the low ones first.
inline constexpr std::uint32_t kSizeFollows = 511;
inline constexpr std::uint32_t kSizeWordBits = 31;
inline constexpr std::uint32_t kSizeWordMask = (1U << kSizeWordBits) - 1;

constexpr std::uint32_t Encode(LiveStart start) {
  return kLiveStartBit | (static_cast<std::uint32_t>(start.kind) << kStackBits) | start.stack;
}

constexpr std::uint32_t Encode(LiveRest rest) {
  return (rest.short_size << kContextBits) | rest.context;
}

constexpr bool IsLiveStart(std::uint32_t word) { return (word & kLiveStartBit) != 0; }

constexpr LiveStart DecodeStart(std::uint32_t word) {
  return {word & ((1U << kStackBits) - 1), static_cast<AllocationKind>((word >> kStackBits) & 0xF)};
}

constexpr LiveRest DecodeRest(std::uint32_t word) {
  return {(word >> kContextBits) & kSizeFollows, word & kContextMask};
}

constexpr std::uint64_t DecodeSize(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high & kSizeWordMask} << kSizeWordBits) | (low & kSizeWordMask);
}

}  // namespace leakgate
