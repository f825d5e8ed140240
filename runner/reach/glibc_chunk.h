// What is known of glibc's chunks without reading them. A chunk is a block with a header of 16
// bytes in front, of which the first 8 are the last ones of the chunk before. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/region/region_copies.h"

namespace leakgate {

// Returns the size of glibc's chunk for a block of `size` bytes, its header included.
constexpr std::uint64_t ChunkBytes(std::uint64_t size) {
  return std::max<std::uint64_t>(32, (size + 8 + 15) & ~std::uint64_t{15});
}

// Returns whether there is room for nothing between the block and its neighbours by address: then
// its chunk has just the size that the block needs.
constexpr bool HasNoGapsAround(const LiveBlock& before, const LiveBlock& block,
                               const LiveBlock& after) {
  return before.address + ChunkBytes(before.size_bytes) == block.address &&
         block.address + ChunkBytes(block.size_bytes) == after.address;
}

}  // namespace leakgate
