// The state of a block in glibc's malloc, by its own bookkeeping around the block:
//
//   block - 8            the chunk's size; bit 0: the chunk before is in use,
//                        bit 1: it is mapped by itself
//   block + 8            in a thread's cache of freed chunks: a random number that
//                        marks them, taken away when the chunk is handed out
//   block - 8 + size     the next chunk's size; bit 0 clear: this chunk is free
//
// This is a second opinion. The live map does not know a block that was allocated without the
// agent's functions, by __libc_malloc or by a function that was searched for in the C library by
// hand.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Frees a block in order to learn the mark of cached chunks. REQUIRES: malloc is glibc's.
void LearnFreedMark();

// Returns true only if the chunk at `block` cannot be in use. REQUIRES: there was a block once.
[[nodiscard]] bool IsFreeChunk(std::uint64_t block);

}  // namespace leakgate::agent
