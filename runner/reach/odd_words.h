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
//   kEncoded       an aligned word that Windows' EncodePointer has made
//   kBoxed         an aligned word: with its bytes in reverse order, complemented, shifted right by
//                  3 or 4 bits or left by one, or with a tag of 17 bits; or two words that have
//                  half of it each, as makecontext's arguments are. The pointer leads to the
//                  block's begin, but for a few low bits. Each takes a search of its own, so only
//                  the first 32 MiB of memory are searched for them
//
// An allocator's own pointers lead to the next block that it will hand out, which may be the first
// byte behind another one; but only where that byte is aligned like a block.
//
// A pointer behind or in front of a block counts only if it does not lead into another one. Blocks
// below 4 GiB have addresses like everyday numbers: an unaligned word or one with a tag must be
// their very address.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/reach/block_index.h"
#include "runner/reach/byte_search.h"
#include "runner/region/region_copies.h"

namespace leakgate {

enum class OddWay : std::uint8_t {
  kNone,
  kUnaligned,
  kTagged,
  kPastTheEnd,
  kBeforeBegin,
  kEncoded,
  kBoxed
};

// Returns "by a pointer that is not aligned", say; an empty text for kNone.
[[nodiscard]] const char* TextOf(OddWay way);

// Blocks below have addresses like everyday numbers.
inline constexpr std::uint64_t kSmallAddress = 1ULL << 32;

// Decodes what EncodePointer has made, or Microsoft's C runtime.
struct PointerCode {
  std::uint64_t flipped = 0;
  int rotated = 0;

  // Returns {}, which changes nothing, if they have not been made in the known way.
  [[nodiscard]] static PointerCode Of(const EncodedPointers& encoded);
  // Returns the code of the runtime in a module that has this security cookie, as its source has
  // it.
  [[nodiscard]] static PointerCode OfCookie(std::uint64_t cookie) {
    return {.flipped = cookie, .rotated = static_cast<int>(cookie % 64)};
  }
  [[nodiscard]] std::uint64_t Decode(std::uint64_t word) const {
    return std::rotr(word ^ flipped, rotated);
  }
};

struct OddHit {
  std::uint32_t block = 0;
  OddWay way = OddWay::kNone;

  friend bool operator==(const OddHit&, const OddHit&) = default;
};

class OddWords {
 public:
  // Finds blocks among those whose numbers are in `wanted`, which is sorted. `all` is the index of
  // all blocks, and `code` the process's own. `blocks` and `all` must outlive the object.
  OddWords(std::span<const LiveBlock> blocks, const BlockIndex& all,
           std::vector<std::uint32_t> wanted, PointerCode code = {});

  // Calls `use(index, hit)` for each block to which a word that begins in words[index] leads.
  // `next` is the word behind the last one: 0 if there is none.
  template <typename Use>
  void ForEachHit(std::span<const std::uint64_t> words, std::uint64_t next, Use use) const {
    if (words.empty()) return;
    const std::size_t last = words.size() - 1;
    // Whatever way a word leads to a block, the bytes that the blocks' addresses have in common are
    // in it or in the word behind it.
    std::size_t tried = 0;
    while (tried < last) {
      const std::size_t found = FindCommonBytes(words, tried);
      if (found == words.size()) break;
      for (std::size_t i = std::max(tried, found == 0 ? 0 : found - 1); i <= found && i < last;
           ++i) {
        TryWord(i, words[i], words[i + 1], use);
      }
      tried = found + 1;
    }
    TryWord(last, words[last], next, use);
    if (code_.flipped != 0) TryEncoded(words, use);
    TryBoxes(words, use);
  }

 private:
  // Takes the pointer out of a word of a form that pointers are kept in.
  using Unboxing = std::uint64_t (*)(std::uint64_t word);

  static constexpr std::uint64_t kAddressMask = (1ULL << 48) - 1;

  template <typename Use>
  void TryAs(OddWay way, std::size_t index, std::uint64_t word, Use use) const {
    if (word - lowest_ >= extent_) return;
    for (const OddHit& hit : HitsOf(word, way)) {
      if (hit.way != OddWay::kNone) use(index, hit);
    }
  }

  // `low` is words[index], and `high` the word behind it.
  template <typename Use>
  void TryWord(std::size_t index, std::uint64_t low, std::uint64_t high, Use use) const {
    if ((low | high) == 0) return;
    const auto try_word = [&](std::uint64_t word, OddWay way) { TryAs(way, index, word, use); };
    try_word(low, OddWay::kNone);
    const std::uint64_t without_high_tag = low & kAddressMask;
    if (without_high_tag != low) try_word(without_high_tag, OddWay::kTagged);
    try_word(low >> 16, OddWay::kTagged);
    for (unsigned bits = 8; bits < 64; bits += 8) {
      try_word(low >> bits | high << (64 - bits), OddWay::kUnaligned);
    }
  }

  template <typename Use>
  void TryEncoded(std::span<const std::uint64_t> words, Use use) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
      TryAs(OddWay::kEncoded, i, code_.Decode(words[i]), use);
    }
  }

  template <typename Use>
  void TryBoxes(std::span<const std::uint64_t> words, Use use) const {
    constexpr std::size_t kWordsOfCall = 16;
    const std::size_t cost = words.size() + kWordsOfCall;
    if (cost > words_for_boxes_) return;
    words_for_boxes_ -= cost;
    for (std::size_t i = 0; (i = FindBoxed(words, i)) < words.size(); ++i) {
      for (const Unboxing unbox : forms_) {
        const std::uint64_t word = unbox(words[i]);
        if (word != words[i]) TryAs(OddWay::kBoxed, i, word, use);
      }
      if (words[i] != high_half_) continue;
      if (i > 0) TryHalf(words, i - 1, use);
      if (i + 1 < words.size()) TryHalf(words, i + 1, use);
    }
  }
  template <typename Use>
  void TryHalf(std::span<const std::uint64_t> words, std::size_t index, Use use) const {
    // As an int, it has its sign in the other bits.
    const std::uint64_t word = high_half_ << 32 | (words[index] & 0xFFFF'FFFF);
    const std::uint64_t rest = words[index] >> 32;
    if (rest == 0 || rest == 0xFFFF'FFFF) TryAs(OddWay::kBoxed, index, word, use);
  }
  void ChooseForms(std::uint64_t highest);

  // Returns the number of the first word from `from` on in which the common bytes begin;
  // words.size() if there is none. They may end in the word behind it.
  [[nodiscard]] std::size_t FindCommonBytes(std::span<const std::uint64_t> words,
                                            std::size_t from) const;
  // Returns the number of the first word from `from` on that may be boxed, or half of a pointer;
  // words.size() if there is none.
  [[nodiscard]] std::size_t FindBoxed(std::span<const std::uint64_t> words, std::size_t from) const;
  [[nodiscard]] std::array<OddHit, 2> HitsOf(std::uint64_t word, OddWay way) const;
  [[nodiscard]] OddHit HitOn(std::uint32_t number, std::uint64_t word, OddWay way) const;

  std::span<const LiveBlock> blocks_;
  const BlockIndex& all_;
  std::vector<std::uint32_t> wanted_;
  PointerCode code_;
  BlockIndex stretched_;  // the wanted blocks, with what is in front of them and behind them
  std::uint64_t lowest_ = 0;
  std::uint64_t extent_ = 0;
  // The bits of an address from 24 or 32 to 47, least first, where all of the blocks' have the
  // same.
  std::array<std::uint8_t, 3> common_{};
  std::size_t common_count_ = 0;  // 0: they have none in common
  std::vector<Unboxing> forms_;   // those that the blocks' addresses have enough in common for
  std::uint64_t high_half_ = 0;   // of the blocks' addresses; 0: they have not the same
  mutable std::size_t words_for_boxes_ = std::size_t{4} << 20;
};

}  // namespace leakgate
