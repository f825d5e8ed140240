// What glibc's malloc itself says of a block, read from its bookkeeping around it:
//
//   block - 8            the chunk's size; bit 0: the chunk before is in use,
//                        bit 1: it is mapped by itself
//   block + 8            in a thread's cache of freed chunks: a random number that
//                        marks them, taken away when the chunk is handed out
//   block - 8 + size     the next chunk's size; bit 0 clear: this chunk is free
//
// A second opinion: the live map does not know what was allocated past the agent,
// by __libc_malloc or a function found in the C library by hand.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Learns the mark of cached chunks by freeing one. REQUIRES: malloc is glibc's.
void LearnFreedMark();

// True only if the chunk at `block` cannot be in use. REQUIRES: it was a block once.
[[nodiscard]] bool IsFreeChunk(std::uint64_t block);

}  // namespace leakgate::agent
