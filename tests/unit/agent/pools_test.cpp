#include "plugin/agent/record/pools.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class AgentPoolsTest : public RecordingTest {
 protected:
  void SetUp() override { window_ = OpenWindow(); }
  void TearDown() override { LeaveWindow(window_); }

  static std::uint32_t Create(const char* name = "pool") { return agent::CreatePool(name); }
  __attribute__((noinline)) static void Give(std::uint32_t pool, std::uint64_t address,
                                             std::uint64_t bytes) {
    agent::AllocateInPool(pool, At(address), bytes, LEAKGATE_CALLER_FRAME());
  }
  __attribute__((noinline)) static void GiveOf(std::uint64_t object, std::uint64_t address,
                                               std::uint64_t bytes) {
    agent::AllocateInPoolOf(object, At(address), bytes, LEAKGATE_CALLER_FRAME());
  }
  __attribute__((noinline)) static void Free(std::uint64_t address) {
    (void)agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }

  using Blocks = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  [[nodiscard]] Blocks Live() const {
    Blocks live;
    const std::vector<LiveBlock> blocks = Reader().LiveBlocks(window_).value();
    for (const LiveBlock& block : blocks) live.emplace_back(block.address, block.size_bytes);
    return live;
  }
  [[nodiscard]] std::int64_t Counted() const { return agent::SumWindow(window_).blocks; }

  std::uint32_t window_ = 0;
};

TEST_F(AgentPoolsTest, BlocksAreLiveUntilTheyAreFreed) {
  const std::uint32_t pool = Create("nodes");
  Give(pool, 0x5100'0000, 24);
  Give(pool, 0x5100'0018, 8);
  Give(pool, 0x5100'0100, 5000);
  EXPECT_THAT(Live(),
              ElementsAre(Pair(0x5100'0000, 24), Pair(0x5100'0018, 8), Pair(0x5100'0100, 5000)));
  const LiveBlock block = Reader().LiveBlocks(window_).value().front();
  EXPECT_EQ(block.kind, AllocationKind::kPool);
  EXPECT_EQ(block.pool, pool);
  EXPECT_EQ(Reader().PoolName(pool), "nodes");
  EXPECT_EQ(Counted(), 3);
  agent::FreeInPool(pool, At(0x5100'0018));
  agent::FreeInPool(pool, At(0x5100'0018));
  agent::FreeInPool(pool, At(0x5100'0104));  // no block begins there
  EXPECT_EQ(Counted(), 2);
  agent::ResetPool(pool);
  EXPECT_THAT(Live(), IsEmpty());
  EXPECT_EQ(Counted(), 0);
  agent::DestroyPool(pool);
  EXPECT_EQ(Create(), pool);  // the number is given again
  agent::DestroyPool(pool);
}

TEST_F(AgentPoolsTest, BlocksMayBeAtAnyAddress) {
  const std::uint32_t pool = Create();
  Blocks expected;
  constexpr std::uint64_t kEnd = 25 * kPoolAreaBytes;  // of an area
  for (std::uint64_t i = 0; i < 64; ++i) {
    Give(pool, kEnd - 32 + i, 1);
    expected.emplace_back(kEnd - 32 + i, 1);
  }
  EXPECT_EQ(Live(), expected);
  for (std::uint64_t i = 0; i < 64; i += 2) agent::FreeInPool(pool, At(kEnd - 32 + i));
  EXPECT_EQ(Counted(), 32);
  // Its size is in words behind the area's last slot.
  Give(pool, kEnd - 2, 1ULL << 33);
  EXPECT_EQ(Counted(), 33);
  agent::DestroyPool(pool);
  EXPECT_EQ(Counted(), 0);
}

TEST_F(AgentPoolsTest, ANewBlockTakesThePlaceOfOneThatNobodyFreed) {
  const std::uint32_t pool = Create();
  Give(pool, 0x5200'0000, 24);
  Give(pool, 0x5200'0000, 16);
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5200'0000, 16)));
  Give(pool, 0x5200'0000, 0);  // no block
  agent::DestroyPool(pool);
  EXPECT_EQ(Counted(), 0);
}

TEST_F(AgentPoolsTest, AChunkCountsOnlyWhileNoBlockIsInIt) {
  const std::uint32_t pool = Create();
  Allocate(0x5300'0000, 0x20000);
  Allocate(0x5310'0000, 64);
  Give(pool, 0x5300'0010, 100);
  Give(pool, 0x5301'0000, 100);
  EXPECT_THAT(Live(),
              ElementsAre(Pair(0x5300'0010, 100), Pair(0x5301'0000, 100), Pair(0x5310'0000, 64)));
  const HeapCopy heap = Reader().CopyHeap().value();
  ASSERT_EQ(heap.chunks.size(), 1U);
  EXPECT_EQ(heap.chunks[0].address, 0x5300'0000U);
  EXPECT_EQ(heap.chunks[0].kind, AllocationKind::kMalloc);
  agent::ResetPool(pool);
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5300'0000, 0x20000), Pair(0x5310'0000, 64)));
  Give(pool, 0x5300'0010, 100);
  Free(0x5300'0000);  // takes the block along
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5310'0000, 64)));
  EXPECT_EQ(Counted(), 1);
  Free(0x5310'0000);
  agent::DestroyPool(pool);
}

TEST_F(AgentPoolsTest, ABlockMayBeAnotherPoolsChunk) {
  const std::uint32_t outer = Create();
  const std::uint32_t inner = Create();
  Give(outer, 0x5400'0000, 4096);
  Give(inner, 0x5400'0100, 50);
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5400'0100, 50)));
  agent::FreeInPool(inner, At(0x5400'0100));
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5400'0000, 4096)));
  Give(inner, 0x5400'0200, 60);
  agent::ResetPool(outer);  // takes the inner one's along
  EXPECT_THAT(Live(), IsEmpty());
  EXPECT_EQ(Counted(), 0);
  agent::DestroyPool(inner);
  agent::DestroyPool(outer);
}

TEST_F(AgentPoolsTest, APoolIsResetAlone) {
  const std::uint32_t one = Create();
  const std::uint32_t other = Create();
  for (std::uint64_t i = 0; i < 100; ++i) Give(i % 2 == 0 ? one : other, 0x5500'0000 + 64 * i, 64);
  agent::ResetPool(one);
  EXPECT_EQ(Counted(), 50);
  agent::FreeInPool(one, At(0x5500'0000 + 64));  // the other one's
  EXPECT_EQ(Counted(), 50);
  agent::DestroyPool(other);
  EXPECT_EQ(Counted(), 0);
  agent::DestroyPool(one);
}

TEST_F(AgentPoolsTest, PoolsOfObjectsAreForgottenOnceTheyHaveNoBlocks) {
  for (std::uint64_t object = 1; object < 3 * kMaxPools; ++object) {
    GiveOf(object << 8, 0x5600'0000, 16);
    agent::FreePooled(At(0x5600'0000));
  }
  EXPECT_EQ(Reader().Drops(DropReason::kPoolTableFull), 0U);
  GiveOf(0x100, 0x5600'0000, 16);
  GiveOf(0x200, 0x5600'0010, 16);
  agent::ResetPoolOf(0x100, false);
  EXPECT_THAT(Live(), ElementsAre(Pair(0x5600'0010, 16)));
  agent::ResetPoolOf(0x200, true);
  EXPECT_EQ(Counted(), 0);
}

// Random calls, as the model of a map has them.
TEST_F(AgentPoolsTest, BlocksAreAsAModelHasThem) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random);
  };
  const std::vector<std::uint32_t> pools = {Create("a"), Create("b"), Create("c")};
  struct Block {
    std::uint32_t pool;
    std::uint64_t bytes;
  };
  std::map<std::uint64_t, Block> model;  // they do not overlap
  constexpr std::uint64_t kBegin = 0x5700'0000 - 20'000;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t pool = pools[below(3)];
    const std::uint32_t deed = below(1000);
    const std::uint64_t address = kBegin + std::uint64_t{below(40'000)} * 8 + below(3);
    if (deed < 600) {
      const std::uint64_t bytes = 1 + below(deed < 10 ? 2000 : 5);
      const auto next = model.lower_bound(address);
      const bool is_free = (next == model.end() || address + bytes <= next->first) &&
                           (next == model.begin() ||
                            std::prev(next)->first + std::prev(next)->second.bytes <= address);
      if (!is_free) continue;
      Give(pool, address, bytes);
      model[address] = {pool, bytes};
    } else if (deed < 998 && !model.empty()) {
      auto block = model.lower_bound(address);
      if (block == model.end()) block = model.begin();
      agent::FreeInPool(block->second.pool, At(block->first));
      model.erase(block);
    } else {
      agent::ResetPool(pool);
      std::erase_if(model, [&](const auto& block) { return block.second.pool == pool; });
    }
  }
  Blocks expected;
  for (const auto& [address, block] : model) expected.emplace_back(address, block.bytes);
  EXPECT_EQ(Live(), expected);
  EXPECT_EQ(Counted(), static_cast<std::int64_t>(expected.size()));
  for (const std::uint32_t pool : pools) agent::DestroyPool(pool);
  EXPECT_EQ(Counted(), 0);
}

}  // namespace
}  // namespace leakgate::test
