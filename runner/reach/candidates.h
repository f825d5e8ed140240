// What a look is asked of each live block. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/reach/find_reach.h"

namespace leakgate {

// Returns the number of each candidate among all blocks, which are sorted by address; kNone
// (block_index.h) if it is no longer live.
[[nodiscard]] std::vector<std::uint32_t> NumbersOf(std::span<const LiveBlock> candidates,
                                                   const std::vector<LiveBlock>& blocks);
// Returns the numbers of all blocks that are not left out, but for pieces of chunks.
[[nodiscard]] std::vector<std::uint32_t> NumbersButFor(const std::vector<bool>& left_out,
                                                       const DividedChunks& divided);

// Each returns one value for each block. The first and the second return nothing if no block has
// any. Which blocks the code has leak checkers ignore:
[[nodiscard]] std::vector<bool> FindIgnored(const ReachRequest& request,
                                            const std::vector<LiveBlock>& blocks);
// How much of the block's begin is its allocator's:
[[nodiscard]] std::vector<std::uint64_t> HeaderBytesOf(const ReachRequest& request,
                                                       const std::vector<LiveBlock>& blocks);
// Whether the block was found lost by an earlier look:
[[nodiscard]] std::vector<bool> FindKnownLost(const ReachRequest& request,
                                              const std::vector<LiveBlock>& blocks);

// Which of those that are known to be lost may own what tests lose: they are of a suite or of the
// program, which live longer. Of many bytes, the first: they are read.
[[nodiscard]] std::vector<bool> FindOwners(const RegionReader& region,
                                           const std::vector<LiveBlock>& blocks,
                                           const std::vector<bool>& known_lost);

}  // namespace leakgate
