#include "runner/reach/reach.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <string>

namespace leakgate {
namespace {

using testing::ElementsAre;

// The memory of a program: blocks, and a map of the words in them.
class Memory {
 public:
  // Returns the block's number. REQUIRES: blocks are added by address.
  std::uint32_t Add(std::uint64_t address, std::uint64_t size, std::uint32_t stack = 0,
                    std::uint32_t window = 0) {
    blocks_.push_back({.address = address, .size_bytes = size, .stack = stack, .window = window});
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  void Store(std::uint64_t address, std::uint64_t word) { words_[address] = word; }

  ReachMarker Marker(std::vector<std::uint32_t> candidates) {
    return ReachMarker(blocks_, std::move(candidates), Reader());
  }
  ReadWords Reader() {
    return [this](std::uint64_t begin, std::uint64_t) {
      ++reads_;
      const auto found = words_.find(begin);
      word_ = found == words_.end() ? 0 : found->second;
      return Words(&word_, 1);
    };
  }
  int reads() const { return reads_; }

 private:
  std::vector<LiveBlock> blocks_;
  std::map<std::uint64_t, std::uint64_t> words_;
  std::uint64_t word_ = 0;
  int reads_ = 0;
};

std::vector<Reach> ReachFrom(Memory& memory, std::vector<std::uint32_t> candidates,
                             std::vector<std::uint64_t> roots, WordRule rule = WordRule::kNone) {
  ReachMarker marker = memory.Marker(std::move(candidates));
  marker.AddRoots(roots, {0x10, 0}, rule);
  marker.Mark();
  return marker.Conclude();
}

TEST(ReachTest, ABlockThatARootPointsIntoIsRetained) {
  Memory memory;
  memory.Add(0x1000, 100);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1000}), ElementsAre(Reach::kRetained));
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1000 + 99}), ElementsAre(Reach::kRetained));
}

// A root leads to an ignored block, and that to another one; a second ignored one is lost, and
// leads to one that the root leads to as well.
TEST(ReachTest, WhatOnlyIgnoredBlocksLeadToIsRetainedByThem) {
  Memory memory;
  for (const std::uint64_t address : {0x1000UL, 0x2000UL, 0x3000UL, 0x4000UL, 0x5000UL}) {
    memory.Add(address, 8);
  }
  memory.Store(0x1000, 0x2000);
  memory.Store(0x3000, 0x4000);
  ReachMarker marker = memory.Marker({1, 3, 4});
  marker.Ignore({true, false, true, false, false});
  marker.AddRoots(std::vector<std::uint64_t>{0x1000, 0x4000}, {0x10, 0});
  marker.Mark();
  EXPECT_FALSE(marker.IsMarked(1));
  EXPECT_TRUE(marker.IsMarked(3));
  marker.MarkIgnored({.kernel_object = 7});
  EXPECT_THAT(marker.Conclude(), ElementsAre(Reach::kRetained, Reach::kRetained, Reach::kLost));
  EXPECT_EQ(marker.ChainTo(1, 0).root.kernel_object, 7U);
  EXPECT_EQ(marker.ChainTo(3, 0).root.kernel_object, 0U);
}

TEST(ReachTest, ABlockThatARootPointsPastIsLost) {
  Memory memory;
  memory.Add(0x1000, 96);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1000 + 96, 0xFFF}), ElementsAre(Reach::kLost));
}

TEST(ReachTest, ABlockOfNoBytesIsHeldAtItsAddress) {
  Memory memory;
  memory.Add(0x1000, 0);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1001}), ElementsAre(Reach::kLost));
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1000}), ElementsAre(Reach::kRetained));
}

TEST(ReachTest, BlocksHoldEachOther) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    memory.Add(i * 0x1000, 64);
    memory.Store(i * 0x1000 + 56, (i + 1) * 0x1000 + 8);
  }
  EXPECT_THAT(ReachFrom(memory, {4}, {0x1000}), ElementsAre(Reach::kRetained));
}

TEST(ReachTest, WhatOnlyALostBlockPointsToIsLostWithIt) {
  Memory memory;
  memory.Add(0x1000, 64);
  memory.Add(0x2000, 64);
  memory.Store(0x2000, 0x1000);
  EXPECT_THAT(ReachFrom(memory, {0, 1}, {}), ElementsAre(Reach::kIndirectlyLost, Reach::kLost));
}

TEST(ReachTest, OfACycleTheFirstByAddressIsLost) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    memory.Add(i * 0x1000, 64);
    memory.Store(i * 0x1000, (i % 3 + 1) * 0x1000);
  }
  EXPECT_THAT(ReachFrom(memory, {0, 1, 2}, {}),
              ElementsAre(Reach::kLost, Reach::kIndirectlyLost, Reach::kIndirectlyLost));
}

// The block at 0x1000 is the first by address, but only the cycle of the other two leads to it.
TEST(ReachTest, WhatHangsOnACycleIsLostWithIt) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 3; ++i) memory.Add(i * 0x1000, 64);
  memory.Store(0x2000, 0x3000);
  memory.Store(0x3000, 0x2000);
  memory.Store(0x3008, 0x1000);
  EXPECT_THAT(ReachFrom(memory, {0, 1, 2}, {}),
              ElementsAre(Reach::kIndirectlyLost, Reach::kLost, Reach::kIndirectlyLost));
}

// Of six blocks behind the root, each is of a stack of its own.
TEST(ReachTest, TellsTheWayFromTheRoot) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 7; ++i) {
    memory.Add(i * 0x1000, 64, static_cast<std::uint32_t>(i));
    memory.Store(i * 0x1000, (i + 1) * 0x1000);
  }
  ReachMarker marker = memory.Marker({0, 1, 6});
  marker.Mark();
  EXPECT_THAT(marker.Conclude(),
              ElementsAre(Reach::kLost, Reach::kIndirectlyLost, Reach::kIndirectlyLost));
  EXPECT_EQ(marker.LostWithOf(0), nullptr);
  const auto text = [&](std::uint32_t block) {
    return LostWithText(*marker.LostWithOf(block),
                        [](std::uint32_t stack) { return "f" + std::to_string(stack); });
  };
  EXPECT_EQ(text(1), "64 B allocated by f1");
  EXPECT_EQ(text(6),
            "64 B allocated by f1 -> ... 1 more -> 64 B allocated by f3 -> 64 B allocated by f4"
            " -> 64 B allocated by f5 -> 64 B allocated by f6");
}

// A suite's owner was found lost before what two tests had given it: a node with a text each.
TEST(ReachTest, WhatIsLostWithAKnownBlockOfAnotherWindowHasARootOfItsOwn) {
  Memory memory;
  memory.Add(0x1000, 64, 1, 7);
  memory.Add(0x2000, 64, 2, 8);
  memory.Add(0x3000, 64, 3, 8);
  memory.Add(0x4000, 64, 4, 9);
  for (const std::uint64_t address : {0x1000U, 0x2000U, 0x3000U}) {
    memory.Store(address, address + 0x1000);
  }
  const auto look = [&](bool may_lead) {
    ReachMarker marker = memory.Marker({1, 2, 3});
    marker.LeaveOut({true, false, false, false}, {may_lead, false, false, false});
    marker.Mark();
    EXPECT_EQ(marker.Conclude().front(), may_lead ? Reach::kIndirectlyLost : Reach::kLost);
    return marker;
  };
  ReachMarker marker = look(true);
  EXPECT_EQ(marker.LostWithOf(1)->root.stack, 1);
  EXPECT_EQ(marker.LostWithOf(1)->of_same_window, std::nullopt);
  EXPECT_EQ(marker.LostWithOf(2)->of_same_window->stack, 2);
  EXPECT_EQ(marker.LostWithOf(3)->of_same_window, std::nullopt);
  EXPECT_EQ(look(false).LostWithOf(1), nullptr);
}

// Blocks that lead to each other by chance, some by pointers that are not aligned.
class RandomBlocks {
 public:
  explicit RandomBlocks(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      memory_.Add(AddressOf(i), 64, i % 7, i % 3);
      all_.push_back(i);
      is_ignored_.push_back(Below(50) == 0);
    }
    for (std::uint32_t i = 0; i < kCount; ++i) {
      for (std::uint32_t word = Below(3); word != 0; --word) {
        memory_.Store(AddressOf(i) + 8 * word, AddressOf(Below(kCount)) + Below(64));
      }
      if (Below(20) == 0) memory_.Store(AddressOf(i) + 48, AddressOf(Below(kCount)) << 8);
    }
  }

  // Returns what is told of each block, and how: what is lost, the way from a root or from what it
  // is lost with.
  std::string Told(bool in_order) {
    ReachMarker marker = memory_.Marker(all_);
    if (in_order) marker.ReadInOrder(memory_.Reader());
    marker.Ignore(is_ignored_);
    const std::vector<std::uint64_t> roots = {AddressOf(1), AddressOf(kCount / 2) + 63};
    marker.AddRoots(roots, {0x10, 0});
    marker.Mark();
    std::string told;
    for (const std::uint32_t block : all_) told += marker.IsMarked(block) ? Way(marker, block) : "";
    marker.MarkIgnored({.kernel_object = 1});
    marker.MarkOddly([](const UseRoots&) {});
    const std::vector<Reach> reaches = marker.Conclude();
    for (const std::uint32_t block : all_) {
      told += std::to_string(static_cast<int>(reaches[block]));
      told += marker.IsFromIgnored(block) ? "i" : "";
      if (const auto with = marker.LostWithOf(block)) told += std::to_string(with->root.address);
    }
    return told;
  }

 private:
  static constexpr std::uint32_t kCount = 400;

  static std::uint64_t AddressOf(std::uint32_t block) {
    return 0x7000'0000'0000 + std::uint64_t{block} * 0x1000;
  }
  std::uint32_t Below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  static std::string Way(const ReachMarker& marker, std::uint32_t block) {
    const BlockChain chain = marker.ChainTo(block, 2);
    std::string way = std::to_string(chain.root.address) + "-" + std::to_string(chain.hidden);
    for (const std::uint32_t link : chain.links) way += "," + std::to_string(link);
    return way + ";";
  }

  Memory memory_;
  std::mt19937 random_;
  std::vector<std::uint32_t> all_;
  std::vector<bool> is_ignored_;
};

TEST(ReachTest, TellsTheSameWhereBlocksAreReadByAddress) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    RandomBlocks blocks(seed);
    const std::string told = blocks.Told(false);
    ASSERT_NE(told.find('i'), std::string::npos);
    ASSERT_EQ(blocks.Told(true), told) << seed;
  }
}

TEST(ReachTest, ABlockThatPointsToItselfIsLost) {
  Memory memory;
  memory.Add(0x1000, 64);
  memory.Store(0x1000, 0x1010);
  EXPECT_THAT(ReachFrom(memory, {0}, {}), ElementsAre(Reach::kLost));
}

TEST(ReachTest, ALostBlockThatIsNoCandidateCountsAsAHolder) {
  Memory memory;
  memory.Add(0x1000, 64);
  memory.Add(0x2000, 64);
  memory.Store(0x1000, 0x2000);
  EXPECT_THAT(ReachFrom(memory, {1}, {}), ElementsAre(Reach::kIndirectlyLost));
}

// With what glibc needs, 1000 bytes take 1008: the next chunk's header begins at +992.
TEST(ReachTest, TheHeaderOfTheNextChunkDoesNotHold) {
  Memory memory;
  memory.Add(0x1010, 1000);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1010 + 992}), ElementsAre(Reach::kRetained));
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1010 + 992}, WordRule::kNoChunkHeaders),
              ElementsAre(Reach::kLost));
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1010 + 984}, WordRule::kNoChunkHeaders),
              ElementsAre(Reach::kRetained));
}

TEST(ReachTest, TheSmallestChunksHeaderIsNotTheBlocksBegin) {
  Memory memory;
  memory.Add(0x1010, 8);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1010}, WordRule::kNoChunkHeaders),
              ElementsAre(Reach::kRetained));
}

TEST(ReachTest, StopsReadingWhenAllCandidatesAreMarked) {
  Memory memory;
  memory.Add(0x1000, 64);
  memory.Add(0x2000, 64);
  EXPECT_THAT(ReachFrom(memory, {0}, {0x1000, 0x2000}), ElementsAre(Reach::kRetained));
  EXPECT_EQ(memory.reads(), 0);
}

TEST(ReachTest, TellsTheShortestChainWithItsRoot) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 4; ++i) memory.Add(i * 0x1000, 64);
  memory.Store(0x1000, 0x2000);
  memory.Store(0x2000, 0x3000);
  memory.Store(0x3000, 0x4000);
  memory.Store(0x1008, 0x3000);
  ReachMarker marker = memory.Marker({3});
  marker.AddRoots(std::vector<std::uint64_t>{7, 0x1000}, {0x600, 42});
  marker.Mark();
  const BlockChain chain = marker.ChainTo(3, 4);
  EXPECT_EQ(chain.root, (RootPlace{0x608, 42}));
  EXPECT_EQ(chain.hidden, 0U);
  EXPECT_THAT(chain.links, ElementsAre(0, 2));
}

TEST(ReachTest, TellsOfALongChainTheLastLinks) {
  Memory memory;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    memory.Add(i * 0x1000, 64);
    memory.Store(i * 0x1000, (i + 1) * 0x1000);
  }
  ReachMarker marker = memory.Marker({19});
  marker.AddRoots(std::vector<std::uint64_t>{0x1000}, {0, 42});
  marker.Mark();
  const BlockChain chain = marker.ChainTo(19, 4);
  EXPECT_EQ(chain.root, (RootPlace{0, 42}));
  EXPECT_EQ(chain.hidden, 15U);
  EXPECT_THAT(chain.links, ElementsAre(15, 16, 17, 18));
}

TEST(ReachTest, TheRootsThatWereMarkedFirstAreTheHolder) {
  Memory memory;
  memory.Add(0x1000, 64);
  memory.Add(0x2000, 64);
  memory.Store(0x1000, 0x2000);
  ReachMarker marker = memory.Marker({1});
  marker.AddRoots(std::vector<std::uint64_t>{0x1000}, {0x100, 0});
  marker.Mark();
  marker.AddRoots(std::vector<std::uint64_t>{0x2000}, {0x200, 0});
  EXPECT_EQ(marker.ChainTo(1, 4).root.address, 0x100U);
}

}  // namespace
}  // namespace leakgate
