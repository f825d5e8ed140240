// The lives of blocks as a page holds them: columns of small numbers, as text. Pure.
//
// Lives are in the order of LivesOverTime::Lives. Each is a byte of flags, and then numbers of 7
// bits a byte, the lowest first; the highest bit says that there is one more byte:
//
//   flags    bits 0 to 3: the decade of the lifetime; 0x10: another birth than the life before;
//            0x20: another death; 0x40: all is temporary; 0x80: a part of it is
//   birth    if it is another one: the distance from that before, which was 0 at first
//   death    if it is another one: the distance from that before, or from 0 behind a new birth
//   stack    its number; behind the same birth and death the distance from the one before
//   bytes, blocks, and if a part is temporary that part's bytes and blocks
//
// A birth is 0 for blocks from before the interval, and else the bin plus 1, as a death is. Deaths
// after the interval have the next number behind those of the bins, and what is never freed has the
// one behind it.
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
