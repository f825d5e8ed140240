// How one live block is written in the live map: two words, in the slots of
// the block's own first two 16-byte granules.
//
//   address  0x5580'0000'1040  0x..1050  0x..1060  0x..1070
//   slot     start word        rest word  0         0        <- a 56-byte block
//
// A block is at least 24 usable bytes long (glibc), and the agent asks every
// other allocator for at least 32, so two granules are always the block's own.
// The top bit tells a start word from a rest word, so a reader in another
// process never takes one for the other while the block changes hands.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

//   start word   63      1: this is a start word
//                62..32  window
//                31..0   stack id
struct LiveStart {
  std::uint32_t window;
  std::uint32_t stack;
};

//   rest word    63      0
//                62..58  kind
//                57..40  thread
//                39..0   size in bytes
struct LiveRest {
  std::uint64_t size_bytes;
  std::uint32_t thread;
  AllocationKind kind;
};

inline constexpr std::uint64_t kLiveStartBit = 1ULL << 63;
inline constexpr std::uint32_t kMaxWindow = (1U << 31) - 1;
inline constexpr std::uint32_t kMaxThread = (1U << 18) - 1;
inline constexpr std::uint64_t kMaxBlockBytes = (1ULL << 40) - 1;

constexpr std::uint64_t Encode(LiveStart start) {
  return kLiveStartBit | (std::uint64_t{start.window} << 32) | start.stack;
}

constexpr std::uint64_t Encode(LiveRest rest) {
  return (static_cast<std::uint64_t>(rest.kind) << 58) | (std::uint64_t{rest.thread} << 40) |
         rest.size_bytes;
}

constexpr bool IsLiveStart(std::uint64_t word) { return (word & kLiveStartBit) != 0; }

constexpr LiveStart DecodeStart(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 32) & kMaxWindow, static_cast<std::uint32_t>(word)};
}

constexpr LiveRest DecodeRest(std::uint64_t word) {
  return {word & kMaxBlockBytes, static_cast<std::uint32_t>(word >> 40) & kMaxThread,
          static_cast<AllocationKind>((word >> 58) & 0x1F)};
}

}  // namespace leakgate
