// Finds blocks that a word leads to in an odd way: not as an aligned pointer into the block. Pure.
//
// Such words are looked for only when blocks would be lost otherwise. What they find counts as
// retained, so a word that is a pointer by chance costs a repetition. That it happens seldom, the
// rules below are narrow: a pointer of 64 bits seldom equals other data, but half a pointer does.
//
//   kUnaligned     any eight bytes, as in a packed structure: the pointer may lead anywhere into
//                  the block
//   kTagged        48 bits of an aligned word: the high 16 bits or the low 16 bits are a tag. Or a
//                  few low bits are, of a pointer to a block that is smaller than the tag. The
//                  pointer leads near the block's begin, or to its end
//   kPastTheEnd    the first byte behind the block
//   kBeforeBegin   up to eight bytes in front of it, as for an array that is counted from 1
//
// An allocator's own pointers lead to the next block that it will hand out, which may be the first
// byte behind another one; but only where that byte is aligned like a block.
//
// A pointer behind or in front of a block counts only if it does not lead into another one. Blocks
// below 4 GiB have addresses like everyday numbers: an unaligned word or one with a tag must be
// their very address.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/reach/block_index.h"
#include "runner/region/region_copies.h"

namespace leakgate {

enum class OddWay : std::uint8_t { kNone, kUnaligned, kTagged, kPastTheEnd, kBeforeBegin };

// Returns "by a pointer that is not aligned", say; an empty text for kNone.
[[nodiscard]] const char* TextOf(OddWay way);

struct OddHit {
  std::uint32_t block = 0;
  OddWay way = OddWay::kNone;

  friend bool operator==(const OddHit&, const OddHit&) = default;
};

class OddWords {
 public:
  // Finds blocks among those whose numbers are in `wanted`, which is sorted. `all` is the index of
  // all blocks. The arguments but `wanted` must outlive the object.
  OddWords(std::span<const LiveBlock> blocks, const BlockIndex& all,
           std::vector<std::uint32_t> wanted);

  // Calls `use(index, hit)` for each block to which a word that begins in words[index] leads.
  // `next` is the word behind the last one: 0 if there is none.
  template <typename Use>
  void ForEachHit(std::span<const std::uint64_t> words, std::uint64_t next, Use use) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint64_t low = words[i];
      const std::uint64_t high = i + 1 < words.size() ? words[i + 1] : next;
      if ((low | high) == 0) continue;
      const auto try_word = [&](std::uint64_t word, OddWay way) {
        if (word - lowest_ >= extent_) return;
        for (const OddHit& hit : HitsOf(word, way)) {
          if (hit.way != OddWay::kNone) use(i, hit);
        }
      };
      try_word(low, OddWay::kNone);
      const std::uint64_t without_high_tag = low & kAddressMask;
      if (without_high_tag != low) try_word(without_high_tag, OddWay::kTagged);
      try_word(low >> 16, OddWay::kTagged);
      for (unsigned bits = 8; bits < 64; bits += 8) {
        try_word(low >> bits | high << (64 - bits), OddWay::kUnaligned);
      }
    }
  }

 private:
  static constexpr std::uint64_t kAddressMask = (1ULL << 48) - 1;

  [[nodiscard]] std::array<OddHit, 2> HitsOf(std::uint64_t word, OddWay way) const;
  [[nodiscard]] OddHit HitOn(std::uint32_t number, std::uint64_t word, OddWay way) const;

  std::span<const LiveBlock> blocks_;
  const BlockIndex& all_;
  std::vector<std::uint32_t> wanted_;
  BlockIndex stretched_;  // the wanted blocks, with what is in front of them and behind them
  std::uint64_t lowest_ = 0;
  std::uint64_t extent_ = 0;
};

}  // namespace leakgate
