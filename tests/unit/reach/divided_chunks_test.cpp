#include "runner/reach/divided_chunks.h"

#include <gmock/gmock.h>

#include <utility>

#include "runner/reach/reach.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

LiveBlock At(std::uint64_t address, std::uint64_t size_bytes, std::uint16_t pool = 0) {
  return {.address = address, .size_bytes = size_bytes, .pool = pool};
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Ranges(const std::vector<LiveBlock>& blocks) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const LiveBlock& block : blocks) {
    ranges.emplace_back(block.address, block.address + block.size_bytes);
  }
  return ranges;
}

TEST(DividedChunksTest, HaveAPieceInEachGap) {
  std::vector<LiveBlock> blocks = {At(0x100, 8), At(0x1010, 16, 1), At(0x1020, 16, 1),
                                   At(0x1040, 32, 1), At(0x2000, 8)};
  const DividedChunks divided(std::vector{At(0x1000, 0x100)}, blocks);
  EXPECT_THAT(Ranges(blocks),
              ElementsAre(Pair(0x100, 0x108), Pair(0x1000, 0x1010), Pair(0x1010, 0x1020),
                          Pair(0x1020, 0x1030), Pair(0x1030, 0x1040), Pair(0x1040, 0x1060),
                          Pair(0x1060, 0x1100), Pair(0x2000, 0x2008)));
  EXPECT_THAT(divided.PiecesOf(0), ElementsAre(1, 4, 6));
  EXPECT_TRUE(divided.IsPiece(4));
  EXPECT_FALSE(divided.IsPiece(5));
  EXPECT_EQ(divided.ChunkOf(0), DividedChunks::kNone);
  EXPECT_EQ(divided.ChunkOf(3), 0U);
  EXPECT_EQ(divided.ChunkOf(7), DividedChunks::kNone);
  EXPECT_EQ(divided.NumberWithoutPieces(7), 4U);
  EXPECT_THAT(Ranges(divided.WithoutPieces(blocks)),
              ElementsAre(Pair(0x100, 0x108), Pair(0x1010, 0x1020), Pair(0x1020, 0x1030),
                          Pair(0x1040, 0x1060), Pair(0x2000, 0x2008)));
}

TEST(DividedChunksTest, MayBeInEachOther) {
  std::vector<LiveBlock> blocks = {At(0x1020, 16, 2), At(0x1080, 16, 1)};
  const DividedChunks divided(std::vector{At(0x1000, 0x100), At(0x1010, 0x40, 1)}, blocks);
  EXPECT_THAT(Ranges(blocks),
              ElementsAre(Pair(0x1000, 0x1010), Pair(0x1010, 0x1020), Pair(0x1020, 0x1030),
                          Pair(0x1030, 0x1050), Pair(0x1050, 0x1080), Pair(0x1080, 0x1090),
                          Pair(0x1090, 0x1100)));
  EXPECT_THAT(divided.PiecesOf(0), ElementsAre(0, 4, 6));
  EXPECT_THAT(divided.PiecesOf(1), ElementsAre(1, 3));
  EXPECT_EQ(divided.ChunkOf(2), 1U);
  EXPECT_EQ(divided.ChunkAround(1), 0U);
}

TEST(DividedChunksTest, HaveNoPieceIfBlocksCoverThem) {
  std::vector<LiveBlock> blocks = {At(0x1000, 0x80, 1), At(0x1080, 0x100, 1)};
  const DividedChunks divided(std::vector{At(0x1000, 0x100)}, blocks);
  EXPECT_THAT(Ranges(blocks), ElementsAre(Pair(0x1000, 0x1080), Pair(0x1080, 0x1180)));
  EXPECT_THAT(divided.PiecesOf(0), IsEmpty());
}

// A root leads to the chunk's header; a free piece leads to another chunk's; no root leads to the
// blocks of either but for one, to which a piece leads.
TEST(DividedChunksTest, AreMarkedAsWholesButForTheirBlocks) {
  std::vector<LiveBlock> blocks = {At(0x1010, 16, 1), At(0x2010, 16, 1), At(0x2030, 16, 1)};
  const DividedChunks divided(std::vector{At(0x1000, 0x40), At(0x2000, 0x40)}, blocks);
  const auto read = [](std::uint64_t begin, std::uint64_t) {
    static std::uint64_t word = 0;
    word = begin == 0x1020 ? 0x2004 : begin == 0x2020 ? 0x2038 : 0;
    return Words(&word, 1);
  };
  const std::vector<std::uint32_t> candidates = {1, 4, 6};
  ReachMarker marker(blocks, candidates, read);
  marker.Divide(divided);
  const std::vector<std::uint64_t> roots = {0x1000};
  marker.AddRoots(roots, {0x10, 0});
  marker.Mark();
  EXPECT_THAT(marker.Conclude(), ElementsAre(Reach::kLost, Reach::kLost, Reach::kRetained));
}

}  // namespace
}  // namespace leakgate
