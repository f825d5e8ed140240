#include "runner/reach/block_index.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/reach/live_blocks.h"

namespace leakgate {
namespace {

TEST(BlockIndexTest, NothingIsInNoBlocks) {
  const BlockIndex index({});
  EXPECT_EQ(index.Find(0), BlockIndex::kNone);
  EXPECT_EQ(index.Find(0x1000), BlockIndex::kNone);
}

TEST(BlockIndexTest, ABlockIsFoundInEachStretchThatItCovers) {
  constexpr std::uint64_t kStretch = 64ULL << 20;
  const std::vector<LiveBlock> blocks = {BlockAt(kStretch - 0x1000, 3 * kStretch),
                                         BlockAt(3 * kStretch, 100)};
  const BlockIndex index(blocks);
  EXPECT_EQ(index.Find(kStretch), 0U);
  EXPECT_EQ(index.Find(2 * kStretch + 5), 0U);
  EXPECT_EQ(index.Find(3 * kStretch - 1), 0U);
  EXPECT_EQ(index.Find(3 * kStretch), 1U);
  EXPECT_EQ(index.Find(3 * kStretch + 100), BlockIndex::kNone);
  EXPECT_EQ(index.Find(kStretch - 0x1001), BlockIndex::kNone);
}

// The process may have written any size into the live map.
TEST(BlockIndexTest, ASizeBeyondAllBoundsEndsAtTheNextBlock) {
  const std::vector<LiveBlock> blocks = {BlockAt(0x1000, ~0ULL), BlockAt(0x2000, ~0ULL)};
  const BlockIndex index(blocks);
  EXPECT_EQ(index.Find(0x1FFF), 0U);
  EXPECT_EQ(index.Find(0x2000), 1U);
  EXPECT_EQ(index.Find(1ULL << kAddressBits), BlockIndex::kNone);
  EXPECT_EQ(index.Find(~0ULL), BlockIndex::kNone);
}

TEST(BlockIndexTest, AgreesWithALinearSearch) {
  std::mt19937_64 random(7);
  std::vector<LiveBlock> blocks;
  std::uint64_t address = 0x5555'0000'0000;
  for (int i = 0; i < 3000; ++i) {
    address += 16 * (random() % 200) + (i % 500 == 0 ? 100ULL << 20 : 16);
    const std::uint64_t size = random() % 2000;
    blocks.push_back(BlockAt(address, size));
    address += (size + 15) & ~15ULL;
  }
  const BlockIndex index(blocks);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const std::uint64_t begin = blocks[i].address;
    const std::uint64_t last = begin + (blocks[i].size_bytes == 0 ? 0 : blocks[i].size_bytes - 1);
    ASSERT_EQ(index.Find(begin), i);
    ASSERT_EQ(index.Find(last), i);
    const bool touches = i + 1 < blocks.size() && blocks[i + 1].address == last + 1;
    ASSERT_EQ(index.Find(last + 1), touches ? i + 1 : BlockIndex::kNone);
  }
}

}  // namespace
}  // namespace leakgate
