#include "runner/reach/odd_words.h"

#include <gmock/gmock.h>

#include <bit>

#include "runner/reach/reach.h"
#include "tests/unit/reach/live_blocks.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kHeap = 0x7F12'3456'0000;

// Returns what two words of memory lead to, among blocks that are all lost.
std::vector<OddHit> HitsOf(std::vector<LiveBlock> blocks, std::uint64_t first,
                           std::uint64_t second = 0, std::vector<std::uint32_t> wanted = {},
                           PointerCode code = {}) {
  if (wanted.empty()) {
    for (std::uint32_t i = 0; i < blocks.size(); ++i) wanted.push_back(i);
  }
  const BlockIndex index(blocks);
  const OddWords odd(blocks, index, wanted, code);
  std::vector<OddHit> hits;
  odd.ForEachHit(std::vector<std::uint64_t>{first, second}, 0,
                 [&](std::size_t, const OddHit& hit) { hits.push_back(hit); });
  return hits;
}

MATCHER_P(By, way, "") { return arg.way == way; }

TEST(OddWordsTest, FindsAPointerAtEachByte) {
  for (unsigned bits = 8; bits < 64; bits += 8) {
    const std::uint64_t pointer = kHeap + 50;
    EXPECT_THAT(HitsOf({BlockAt(kHeap, 100)}, pointer << bits, pointer >> (64 - bits)),
                testing::Contains(By(OddWay::kUnaligned)))
        << bits;
  }
}

TEST(OddWordsTest, LeavesPlainPointersToTheQuickLook) {
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 100)}, kHeap + 50), IsEmpty());
}

TEST(OddWordsTest, FindsAPointerWithATagInItsHighOrLowBits) {
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 100)}, kHeap | 0xBEEFULL << 48),
              ElementsAre(By(OddWay::kTagged)));
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 100)}, kHeap << 16 | 0xBEEF),
              testing::Contains(By(OddWay::kTagged)));
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 1)}, kHeap | 5), ElementsAre(By(OddWay::kTagged)));
}

// EncodePointer as Windows and Wine have it.
std::uint64_t EncodedBy(std::uint64_t cookie, int rotated, std::uint64_t address) {
  return std::rotr(address ^ cookie, rotated);
}

TEST(OddWordsTest, FindsAnEncodedPointerIntoABlock) {
  constexpr std::uint64_t kCookie = 0x1122'3344'9ABC'DEF5;
  for (const int rotated : {0, 1, 17, 63}) {
    const auto encode = [&](std::uint64_t address) { return EncodedBy(kCookie, rotated, address); };
    const PointerCode code = PointerCode::Of({.of_zero = encode(0), .of_one = encode(1)});
    const auto hits_of = [&](std::uint64_t address) {
      return HitsOf({BlockAt(kHeap, 100)}, 42, encode(address), {}, code);
    };
    EXPECT_THAT(hits_of(kHeap), ElementsAre(OddHit{0, OddWay::kEncoded})) << rotated;
    EXPECT_THAT(hits_of(kHeap + 99), ElementsAre(OddHit{0, OddWay::kEncoded})) << rotated;
    EXPECT_THAT(hits_of(kHeap + 100), IsEmpty()) << rotated;
    EXPECT_THAT(hits_of(kHeap - 1), IsEmpty()) << rotated;
    EXPECT_THAT(hits_of(0), IsEmpty()) << rotated;
  }
}

// As the source of Microsoft's C runtime has it.
std::uint64_t EncodedByCookie(std::uint64_t cookie, std::uint64_t address) {
  return std::rotl(address, static_cast<int>(cookie % 64)) ^ cookie;
}

TEST(OddWordsTest, FindsWhatTheRuntimeHasEncodedWithItsModulesCookie) {
  constexpr std::uint64_t kSmall = 0x12'3450;
  for (const std::uint64_t cookie : {0x1234'5678'9ABCULL, 0x40ULL, 0xFFFF'FFFF'FFFFULL}) {
    const PointerCode code = PointerCode::OfCookie(cookie);
    const std::vector<LiveBlock> blocks = {BlockAt(kSmall, 100), BlockAt(kHeap, 100)};
    const auto mark = [&](std::uint64_t word) {
      ReachMarker marker(blocks, {0, 1}, [](std::uint64_t, std::uint64_t) { return Words(); });
      marker.AddEncodedRoots(Words(&word, 1), {.address = 0x1000}, code);
      return std::pair(marker.IsMarked(0), marker.IsMarked(1));
    };
    EXPECT_EQ(mark(EncodedByCookie(cookie, kHeap + 50)), std::pair(false, true)) << cookie;
    EXPECT_EQ(mark(EncodedByCookie(cookie, kSmall + 8)), std::pair(false, false)) << cookie;
    EXPECT_EQ(mark(EncodedByCookie(cookie + 1, kHeap)), std::pair(false, false)) << cookie;
    for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{77}, cookie, kHeap, ~cookie}) {
      if (word == kHeap && cookie == 0x40) continue;  // which changes little
      EXPECT_EQ(mark(word), std::pair(false, false)) << cookie << ' ' << word;
    }
  }
}

TEST(OddWordsTest, DecodesNothingWhoseCodeItDoesNotKnow) {
  constexpr std::uint64_t kFlipped = 0x1122'3344'9ABC'DEF5;
  for (const std::uint64_t of_one : {kFlipped, kFlipped ^ 3}) {
    const PointerCode code = PointerCode::Of({.of_zero = kFlipped, .of_one = of_one});
    EXPECT_THAT(HitsOf({BlockAt(kHeap, 100)}, 42, kHeap ^ kFlipped, {}, code), IsEmpty());
  }
}

TEST(OddWordsTest, FindsBoxedPointersAmongManyBlocks) {
  const std::uint64_t pointer = kHeap + 16 * 777;
  std::vector<LiveBlock> blocks;
  for (std::uint64_t i = 0; i < 4096; ++i) blocks.push_back(BlockAt(kHeap + 16 * i, 16));
  for (const std::uint64_t word : std::initializer_list<std::uint64_t>{
           __builtin_bswap64(pointer), __builtin_bswap64(pointer | 1), ~pointer, pointer >> 3,
           pointer >> 4 | 77ULL << 44, pointer << 1 | 1, pointer | 0x1FFF5ULL << 47}) {
    EXPECT_THAT(HitsOf(blocks, 42, word), testing::Contains(OddHit{777, OddWay::kBoxed}));
  }
  EXPECT_THAT(HitsOf(blocks, ~(pointer + 16 * 4096), pointer << 2), IsEmpty());
  const std::uint64_t low = pointer & 0xFFFF'FFFF;
  const std::uint64_t high = pointer >> 32;
  EXPECT_THAT(HitsOf(blocks, low, high), ElementsAre(OddHit{777, OddWay::kBoxed}));
  EXPECT_THAT(HitsOf(blocks, high, low | 0xFFFF'FFFFULL << 32),
              ElementsAre(OddHit{777, OddWay::kBoxed}));
  EXPECT_THAT(HitsOf(blocks, low, high + 1), IsEmpty());
}

TEST(OddWordsTest, APointerWithATagLeadsNearTheBegin) {
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 1 << 20)}, (kHeap + 5000) | 0xBEEFULL << 48), IsEmpty());
}

TEST(OddWordsTest, FindsPointersJustOutsideABlock) {
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 8)}, kHeap + 8), ElementsAre(By(OddWay::kPastTheEnd)));
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 80)}, kHeap - 8), ElementsAre(By(OddWay::kBeforeBegin)));
  EXPECT_THAT(HitsOf({BlockAt(kHeap, 80)}, kHeap - 1), ElementsAre(By(OddWay::kBeforeBegin)));
}

TEST(OddWordsTest, APointerBesideABlockThatIsInAnotherOneIsThatOnes) {
  const std::vector<LiveBlock> blocks = {BlockAt(kHeap, 32), BlockAt(kHeap + 32, 32)};
  EXPECT_THAT(HitsOf(blocks, kHeap + 32, 0, {0}), IsEmpty());
  EXPECT_THAT(HitsOf(blocks, kHeap + 24, 0, {1}), IsEmpty());
}

TEST(OddWordsTest, BetweenTwoLostBlocksAPointerCountsForBoth) {
  EXPECT_EQ(HitsOf({BlockAt(kHeap, 24), BlockAt(kHeap + 32, 24)}, kHeap + 24),
            (std::vector<OddHit>{{1, OddWay::kBeforeBegin}, {0, OddWay::kPastTheEnd}}));
}

TEST(OddWordsTest, OfSmallAddressesOnlyTheVeryAddressCounts) {
  const std::vector<LiveBlock> blocks = {BlockAt(0x1C3'D2A0, 100)};
  EXPECT_THAT(HitsOf(blocks, 0x1C3'D2A8ULL << 24), IsEmpty());
  EXPECT_THAT(HitsOf(blocks, 0x1C3'D2A0ULL << 24), ElementsAre(By(OddWay::kUnaligned)));
}

// An allocator without headers between its blocks keeps the address of the next one.
TEST(OddWordsTest, AnAllocatorsPointerToItsNextBlockDoesNotHoldTheOneInFront) {
  const auto reach_of = [](std::uint64_t size, std::uint64_t header) {
    const std::vector<LiveBlock> blocks = {BlockAt(kHeap, size)};
    ReachMarker marker(blocks, {0},
                       [&](std::uint64_t, std::uint64_t) { return Words(&header, 1); });
    marker.Mark();
    const std::uint64_t end = kHeap + size;
    marker.MarkOddly([&](const UseRoots& use) { use({Words(&end, 1), {.address = 0x1000}}); });
    return marker.Conclude().front();
  };
  EXPECT_EQ(reach_of(32, 0), Reach::kLost);
  EXPECT_EQ(reach_of(32, 0x31), Reach::kRetained);  // glibc's header: 48 bytes, and in use
  EXPECT_EQ(reach_of(8, 0), Reach::kRetained);
}

TEST(OddWordsTest, WhatAnOddWordLeadsToHoldsOthersAndTellsHow) {
  const std::vector<LiveBlock> blocks = {BlockAt(kHeap, 32), BlockAt(kHeap + 0x100, 32),
                                         BlockAt(kHeap + 0x200, 32)};
  std::uint64_t content = 0;
  ReachMarker marker(blocks, {1, 2}, [&](std::uint64_t begin, std::uint64_t) {
    content = begin == kHeap + 8 ? kHeap + 0x100 : 0;
    return Words(&content, 1);
  });
  const std::uint64_t tagged = kHeap | 0xBEEFULL << 48;
  marker.MarkOddly([&](const UseRoots& use) { use({Words(&tagged, 1), {.address = 0x1000}}); });
  EXPECT_THAT(marker.Conclude(), ElementsAre(Reach::kRetained, Reach::kLost));
  const BlockChain chain = marker.ChainTo(1, 4);
  EXPECT_EQ(chain.way, OddWay::kTagged);
  EXPECT_THAT(chain.links, ElementsAre(0U));
}

TEST(OddWordsTest, APointerMayGoFromOnePieceOfARootIntoTheNext) {
  const std::vector<LiveBlock> blocks = {BlockAt(kHeap, 32)};
  ReachMarker marker(blocks, {0}, [](std::uint64_t, std::uint64_t) { return Words(); });
  const std::vector<std::uint64_t> words = {kHeap << 40, kHeap >> 24};
  marker.MarkOddly([&](const UseRoots& use) {
    use({Words(&words[0], 1), {.address = 0x1000}});
    use({Words(&words[1], 1), {.address = 0x1008}});
  });
  EXPECT_THAT(marker.Conclude(), ElementsAre(Reach::kRetained));
}

TEST(OddWordsTest, APointerMayGoOnInAWordThatComesByNoMore) {
  const std::vector<LiveBlock> blocks = {BlockAt(kHeap, 32)};
  ReachMarker marker(blocks, {0}, [](std::uint64_t, std::uint64_t) { return Words(); });
  const std::uint64_t word = kHeap << 40;
  marker.MarkOddly([&](const UseRoots& use) {
    use({.words = Words(&word, 1), .place = {.address = 0x1000}, .next = kHeap >> 24});
  });
  EXPECT_THAT(marker.Conclude(), ElementsAre(Reach::kRetained));
}

}  // namespace
}  // namespace leakgate
