// The lives of blocks as a page contains them: columns of small numbers, as text. Pure.
//
// Lives are in the order of LivesOverTime::Lives. Each is a byte of flags, and then numbers of 7
// bits a byte, the lowest first; the highest bit says that there is one more byte:
//
//   flags    bits 0 to 3: the decade of the lifetime; 0x10: the birth differs from the previous
//            life's; 0x20: the death differs; 0x40: all is temporary; 0x80: a part of it is
//   birth    if it differs: the distance from the previous one, which is 0 at first
//   death    if it differs: the distance from the previous one, or from 0 after a new birth
//   stack    its number; after the same birth and death, the distance from the previous one
//   bytes, blocks, and if a part is temporary that part's bytes and blocks
//
// A birth is 0 for blocks from before the interval, and otherwise the bin plus 1; so is a death.
// Deaths after the interval have the number after those of the bins, and blocks that are never
// freed have the one after that.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runner/recording/view/life_table.h"

namespace leakgate {

// Returns `lives` as bytes. REQUIRES: they are sorted; there are `bins`.
[[nodiscard]] std::string EncodeLives(const std::vector<Life>& lives, std::size_t bins);

// Returns `bytes` in base64.
[[nodiscard]] std::string Base64(const std::string& bytes);

}  // namespace leakgate
