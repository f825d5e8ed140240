#include "runner/reach/odd_words.h"

#include <algorithm>
#include <bit>

namespace leakgate {
namespace {

constexpr std::uint64_t kMostInFront = 8;
constexpr std::uint64_t kMostOfTag = 16;  // values that low bits of a pointer may have
constexpr std::uint64_t kNearBegin = 64;  // where a pointer with a tag may lead to
constexpr std::uint64_t kAllocatorAlignment = 16;

// A stretched block ends where the next one begins, so the block in front is asked as well.
std::vector<LiveBlock> Stretch(std::span<const LiveBlock> blocks,
                               const std::vector<std::uint32_t>& wanted) {
  std::vector<LiveBlock> stretched;
  stretched.reserve(wanted.size());
  for (const std::uint32_t number : wanted) {
    const LiveBlock& block = blocks[number];
    const std::uint64_t behind = std::max(block.size_bytes + 1, kMostOfTag);
    const std::uint64_t in_front = std::min(block.address, kMostInFront);
    stretched.push_back({.address = block.address - in_front, .size_bytes = in_front + behind});
  }
  return stretched;
}

constexpr std::uint64_t kLow47 = (std::uint64_t{1} << 47) - 1;
constexpr std::uint64_t kLow48 = (std::uint64_t{1} << 48) - 1;

using Bits = std::uint64_t;

// How a pointer gets out of the form, and where its bits are in it: all others are a tag's.
struct BoxForm {
  Bits (*unbox)(Bits word);
  Bits (*move)(Bits bits);
};

constexpr Bits Same(Bits bits) { return bits; }
constexpr Bits Swapped(Bits bits) { return __builtin_bswap64(bits); }
constexpr Bits Complement(Bits bits) { return ~bits; }
constexpr Bits WithoutTag(Bits bits) { return bits & kLow47; }
// Without a bit of the tag in the 48 of an address, it is a pointer with a tag like others.
constexpr Bits OfLargeTag(Bits word) { return (word >> 47 & 1) != 0 ? word & kLow47 : 0; }
template <unsigned kCount>
constexpr Bits ShiftedRight(Bits bits) {
  return bits >> kCount;
}
template <unsigned kCount>
constexpr Bits ShiftedLeft(Bits bits) {
  return bits << kCount;
}
template <unsigned kCount>
constexpr Bits ShiftedBack(Bits word) {
  return word << kCount & kLow48;
}

constexpr BoxForm kForms[] = {
    {Swapped, Swapped},
    {Complement, Same},
    {OfLargeTag, WithoutTag},
    {ShiftedBack<3>, ShiftedRight<3>},
    {ShiftedBack<4>, ShiftedRight<4>},
    {ShiftedRight<1>, ShiftedLeft<1>},
};

}  // namespace

const char* TextOf(OddWay way) {
  switch (way) {
    case OddWay::kNone:
      return "";
    case OddWay::kUnaligned:
      return "by a pointer that is not aligned";
    case OddWay::kTagged:
      return "by a pointer with a tag in its bits";
    case OddWay::kPastTheEnd:
      return "by a pointer one past the end";
    case OddWay::kBeforeBegin:
      return "by a pointer in front of its begin";
    case OddWay::kEncoded:
      return "by a pointer that EncodePointer or the C runtime has encoded";
    case OddWay::kBoxed:
      return "by a pointer that is shifted, swapped, complemented, tagged or in halves";
  }
  return "";
}

PointerCode PointerCode::Of(const EncodedPointers& encoded) {
  const Bits one = encoded.of_zero ^ encoded.of_one;
  if (!std::has_single_bit(one)) return {};
  return {.flipped = encoded.of_zero, .rotated = std::countr_zero(one)};
}

OddWords::OddWords(std::span<const LiveBlock> blocks, const BlockIndex& all,
                   std::vector<std::uint32_t> wanted, PointerCode code)
    : blocks_(blocks),
      all_(all),
      wanted_(std::move(wanted)),
      code_(code),
      stretched_(Stretch(blocks_, wanted_)) {
  if (wanted_.empty()) return;
  lowest_ = stretched_.begin(0);
  extent_ = stretched_.end(static_cast<std::uint32_t>(wanted_.size()) - 1) - lowest_;
  const std::uint64_t highest = lowest_ + extent_ - 1;
  ChooseForms(highest);
  for (const unsigned first_bit : {24U, 32U}) {
    if (lowest_ >> first_bit != highest >> first_bit) continue;
    for (unsigned bit = first_bit; bit < 48; bit += 8) {
      common_[common_count_++] = static_cast<std::uint8_t>(lowest_ >> bit);
    }
    return;
  }
}

void OddWords::ChooseForms(std::uint64_t highest) {
  constexpr std::size_t kFewest = 2;
  const Bits differ = (std::uint64_t{1} << std::bit_width(lowest_ ^ highest)) - 1;
  const Bits common = kLow48 & ~differ;
  if (lowest_ >> 32 == highest >> 32) high_half_ = lowest_ >> 32;
  for (const BoxForm& form : kForms) {
    const Bits known = form.move(common);
    std::size_t bytes = 0;  // that all have in common, one after the other
    for (unsigned bit = 0; bit < 64 && bytes < kFewest; bit += 8) {
      bytes = (known >> bit & 0xFF) == 0xFF ? bytes + 1 : 0;
    }
    if (bytes == kFewest) forms_.push_back(form.unbox);
  }
}

std::size_t OddWords::FindCommonBytes(std::span<const std::uint64_t> words,
                                      std::size_t from) const {
  if (common_count_ == 0) return from;
  return FindBytes(words, from, std::span(common_).first(common_count_));
}

std::size_t OddWords::FindBoxed(std::span<const std::uint64_t> words, std::size_t from) const {
  const std::uint64_t lowest = lowest_;
  const std::uint64_t extent = extent_;
  const auto is_there = [&](Bits word) { return word - lowest < extent ? 1U : 0U; };
  std::size_t at = from;
  for (; at < words.size(); ++at) {
    const Bits word = words[at];
    if (word == 0) continue;
    // All forms at once: a branch for each takes longer.
    unsigned found = word == high_half_ ? 1 : 0;
    found |= is_there(Swapped(word)) | is_there(Complement(word)) | is_there(OfLargeTag(word));
    found |= is_there(ShiftedBack<3>(word)) | is_there(ShiftedBack<4>(word));
    found |= is_there(ShiftedRight<1>(word));
    if (found != 0) break;
  }
  return at;
}

std::array<OddHit, 2> OddWords::HitsOf(std::uint64_t word, OddWay way) const {
  std::array<OddHit, 2> hits;
  const std::uint32_t found = stretched_.Find(word);
  if (found == BlockIndex::kNone) return hits;
  hits[0] = HitOn(wanted_[found], word, way);
  if (found != 0) hits[1] = HitOn(wanted_[found - 1], word, way);
  return hits;
}

OddHit OddWords::HitOn(std::uint32_t number, std::uint64_t word, OddWay way) const {
  const std::uint64_t begin = all_.begin(number);
  const std::uint64_t end = begin + blocks_[number].size_bytes;
  const bool is_inside = word >= begin && word < end;
  if (way == OddWay::kNone) {
    if (is_inside) return {};  // a plain pointer, which has been seen
  } else {
    if (begin < kSmallAddress && word != begin) return {};
    const bool is_near = word < begin + kNearBegin || word == end;
    if (way == OddWay::kTagged && !is_near) return {};
    if (way == OddWay::kBoxed && word - begin >= kMostOfTag) return {};
  }
  if (is_inside) return {number, way};
  // A block of no bytes is known by its address alone.
  if (way != OddWay::kNone && word == begin) return {number, way};
  if (way == OddWay::kEncoded) return {};
  if (all_.Find(word) != BlockIndex::kNone) return {};
  if (word == end && way == OddWay::kNone) return {number, OddWay::kPastTheEnd};
  if (word == end && end % kAllocatorAlignment != 0) return {number, way};
  if (word < begin && begin - word <= kMostInFront) {
    return {number, way == OddWay::kNone ? OddWay::kBeforeBegin : way};
  }
  if (word > end && word < begin + kMostOfTag) return {number, OddWay::kTagged};
  return {};
}

}  // namespace leakgate
