// The recorder against a model: the same allocations and frees, kept in a
// std::map, must be what a reader of the region finds.
#include "plugin/agent/record/recorder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "plugin/agent/windows/phases.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::IsEmpty;

class RecorderTest : public RecordingTest {
 protected:
  __attribute__((noinline)) static std::optional<agent::FreedBlock> Free(
      std::uint64_t address, FreeKind kind = FreeKind::kFree) {
    return agent::RecordFree(At(address), {kind, LEAKGATE_CALLER_FRAME()});
  }

  static std::map<std::uint64_t, std::uint64_t> LiveIn(std::uint32_t window) {
    std::map<std::uint64_t, std::uint64_t> live;
    const std::vector<LiveBlock> blocks = Reader().LiveBlocks(window).value();
    for (const LiveBlock& block : blocks) {
      live[block.address] = block.size_bytes;
    }
    return live;
  }
};

TEST_F(RecorderTest, FindsABlockWithItsSizeKindAndStack) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1000'0000, 77);
  const std::vector<LiveBlock> live = Reader().LiveBlocks(window).value();
  LeaveWindow(window);

  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0].address, 0x1000'0000U);
  EXPECT_EQ(live[0].size_bytes, 77U);
  EXPECT_EQ(live[0].kind, AllocationKind::kMalloc);
  EXPECT_GT(Reader().Stack(live[0].stack).frames.size(), 3U);
}

TEST_F(RecorderTest, KeepsABlockInTheLastGranuleOfAChunk) {
  const std::uint32_t window = OpenWindow();
  constexpr std::uint64_t kChunk = 1ULL << kChunkShift;
  Allocate(8 * kChunk - 16, 40);
  Allocate(8 * kChunk + 32, 41);
  EXPECT_EQ(LiveIn(window).size(), 2U);
  Free(8 * kChunk - 16);
  const auto live = LiveIn(window);
  LeaveWindow(window);
  EXPECT_EQ(live, (std::map<std::uint64_t, std::uint64_t>{{8 * kChunk + 32, 41}}));
}

// As a session of `--stacks` has it, until the end of the test's scope.
class StacksOf {
 public:
  explicit StacksOf(std::uint32_t events) { EXPECT_TRUE(agent::SwitchOn(events)); }
  ~StacksOf() { EXPECT_TRUE(agent::SwitchOn()); }
  StacksOf(const StacksOf&) = delete;
  StacksOf& operator=(const StacksOf&) = delete;
};

constexpr auto kNotTaken = static_cast<std::uint32_t>(UnwindEnd::kNotTaken);

__attribute__((noinline)) void AllocateAny(std::uint64_t address, std::uint64_t bytes,
                                           AllocationKind kind) {
  agent::RecordAnyAllocation(reinterpret_cast<void*>(address), bytes, kind,
                             LEAKGATE_CALLER_FRAME());
}

Amount FreedInAll() {
  Amount sum;
  for (std::uint32_t stack = 0; stack < kMaxStackNodes; ++stack) {
    const Tally& tally = agent::g_region.freed_by()[stack];
    if (stack > agent::g_region.header().stack_node_count.load()) break;
    sum += {static_cast<std::int64_t>(tally.bytes.load()),
            static_cast<std::int64_t>(tally.blocks.load())};
  }
  return sum;
}

TEST_F(RecorderTest, LeavesOutStacksOfEventsThatAreNotAskedFor) {
  const StacksOf events(kStacksOfRealloc);
  const std::uint32_t window = OpenWindow();
  const Totals before = agent::SumTotals();
  AllocateAny(0x1300'0000, 10, AllocationKind::kNew);  // the long way: its window is new
  AllocateAny(0x1300'0100, 1000, AllocationKind::kCalloc);
  AllocateAny(0x1300'0900, 7, AllocationKind::kRealloc);
  const std::vector<LiveBlock> live = Reader().LiveBlocks(window).value();
  const Totals after = agent::SumTotals();
  for (const std::uint64_t address : {0x1300'0000UL, 0x1300'0100UL, 0x1300'0900UL}) Free(address);
  LeaveWindow(window);

  ASSERT_EQ(live.size(), 3U);
  EXPECT_EQ(live[0].stack, kNotTaken);
  EXPECT_EQ(live[1].stack, kNotTaken);
  EXPECT_EQ(live[1].size_bytes, 1000U);
  EXPECT_EQ(live[1].kind, AllocationKind::kCalloc);
  EXPECT_GT(Reader().Stack(live[2].stack).frames.size(), 3U);
  EXPECT_EQ(after.allocated_blocks - before.allocated_blocks, 3U);
  EXPECT_EQ(after.allocated_bytes - before.allocated_bytes, 1017U);
}

// As a run has it whose budgets limit temporary blocks, until the end of the test's scope.
class CountsTemporary {
 public:
  CountsTemporary() { EXPECT_TRUE(agent::SwitchOn(kDefaultStackEvents, {.records = true})); }
  ~CountsTemporary() { EXPECT_TRUE(agent::SwitchOn()); }
  CountsTemporary(const CountsTemporary&) = delete;
  CountsTemporary& operator=(const CountsTemporary&) = delete;

  // Since this began.
  Amount Counted() const { return TemporaryIn(agent::SumTotals()) - before_; }

 private:
  Amount before_ = TemporaryIn(agent::SumTotals());
};

// By each of the ways in which the interposed functions record.
void AllocateWritten(std::uint64_t address, std::uint64_t bytes) {
  agent::RecordAllocation<agent::Events::kWritten>(
      reinterpret_cast<void*>(address), bytes, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
}
bool FreeWritten(std::uint64_t address) {
  void* const block = reinterpret_cast<void*>(address);
  return agent::RecordFreeHere<agent::Events::kWritten>(block, FreeKind::kFree) ||
         agent::RecordFreeInWindow<agent::Events::kWritten>(block, FreeKind::kFree);
}

TEST_F(RecorderTest, CountsWhatIsFreedBeforeAnythingElseIsAllocated) {
  const CountsTemporary temporary;
  for (int i = 0; i < 10; ++i) {
    AllocateWritten(0x1302'0000, 100);
    EXPECT_TRUE(FreeWritten(0x1302'0000));
  }
  AllocateWritten(0x1302'0000, 100);
  AllocateWritten(0x1302'0100, 50);
  EXPECT_TRUE(FreeWritten(0x1302'0000));
  EXPECT_TRUE(FreeWritten(0x1302'0100));
  EXPECT_EQ(temporary.Counted(), (Amount{1050, 11}));
}

TEST_F(RecorderTest, CountsTemporaryBlocksTheLongWayToo) {
  const CountsTemporary temporary;
  Allocate(0x1302'0200, 70);
  Free(0x1302'0200);
  Allocate(0x1302'0200, 30);
  const std::optional<agent::FreedBlock> freed = Free(0x1302'0200, FreeKind::kRealloc);
  EXPECT_EQ(temporary.Counted(), (Amount{100, 2}));
  agent::RestoreBlock(At(0x1302'0200), *freed);  // realloc has failed
  agent::EndReallocation();
  EXPECT_EQ(temporary.Counted(), (Amount{70, 1}));
  Free(0x1302'0200);
  EXPECT_EQ(temporary.Counted(), (Amount{100, 2}));
}

TEST_F(RecorderTest, DoesNotTakeABlockOfAnotherTestForTemporary) {
  const CountsTemporary temporary;
  const std::uint32_t first = OpenWindow();
  AllocateWritten(0x1302'0300, 10);
  LeaveWindow(first);
  const std::uint32_t second = OpenWindow();
  Free(0x1302'0300);
  LeaveWindow(second);
  EXPECT_EQ(temporary.Counted(), Amount{});
}

// Another thread has freed this one's last block, and has got its address.
TEST_F(RecorderTest, DoesNotTakeABlockOfAnotherThreadForTemporary) {
  const CountsTemporary temporary;
  AllocateWritten(0x1302'0400, 10);
  std::thread([] {
    Free(0x1302'0400);
    Allocate(0x1302'0400, 20);
  }).join();
  Free(0x1302'0400);
  EXPECT_EQ(temporary.Counted(), Amount{});
}

TEST_F(RecorderTest, CountsFreesByTheirStack) {
  const StacksOf events(kAllStackEvents);
  const Amount before = FreedInAll();
  const auto allocate_and_free = [](std::uint64_t bytes) {
    Allocate(0x1301'0000, bytes);
    return Free(0x1301'0000)->freed_by;
  };
  std::optional<std::uint32_t> first;
  for (int i = 0; i < 3; ++i) first = allocate_and_free(100);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(agent::g_region.freed_by()[*first].blocks.load(), 3U);
  EXPECT_EQ(agent::g_region.freed_by()[*first].bytes.load(), 300U);
  EXPECT_EQ(FreedInAll() - before, (Amount{300, 3}));
}

TEST_F(RecorderTest, TakesACountedFreeBack) {
  const StacksOf events(kAllStackEvents);
  Allocate(0x1302'0000, 64);
  const Amount before = FreedInAll();
  const auto freed = Free(0x1302'0000);
  EXPECT_EQ(FreedInAll() - before, (Amount{64, 1}));
  agent::RestoreBlock(At(0x1302'0000), *freed);
  EXPECT_EQ(FreedInAll() - before, Amount{});
  Free(0x1302'0000);
}

TEST_F(RecorderTest, CountsFreesThatNobodySaw) {
  const StacksOf events(kAllStackEvents);
  const std::uint64_t before = agent::g_region.freed_by()[kNotTaken].bytes.load();
  Allocate(0x1303'0000, 48);
  Allocate(0x1303'0000, 16);  // so the first has gone
  EXPECT_EQ(agent::g_region.freed_by()[kNotTaken].bytes.load() - before, 48U);
  Free(0x1303'0000);
}

__attribute__((noinline)) std::optional<std::uint32_t> FreeFromANewPlace(std::uint64_t address) {
  const auto freed = agent::RecordFree(reinterpret_cast<void*>(address),
                                       {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  return freed ? freed->freed_by : std::nullopt;
}

// No free is lost where the stack table is full: it counts for the frames that there are, and
// that they are cut is counted.
TEST_F(RecorderTest, CountsFreesWhereTheStackTableIsFull) {
  const StacksOf events(kAllStackEvents);
  Allocate(0x1304'0000, 80);
  const Amount before = FreedInAll();
  const std::uint64_t cut = Reader().StackEnds(UnwindEnd::kTableFull);
  auto& count = agent::g_region.header().stack_node_count;
  const std::uint32_t nodes = count.load();
  count.store(kMaxStackNodes);
  const std::optional<std::uint32_t> stack = FreeFromANewPlace(0x1304'0000);
  count.store(nodes);
  ASSERT_TRUE(stack.has_value());
  EXPECT_EQ(Reader().StackEnds(UnwindEnd::kTableFull), cut + 1);
  EXPECT_EQ(FreedInAll() - before, (Amount{80, 1}));
}

// A server may begin a thread a request: millions of them.
TEST_F(RecorderTest, MakesNoMoreContextsForThreadsBeyondTheTable) {
  const std::uint32_t window = OpenWindow();
  RegionHeader& header = agent::g_region.header();
  const std::uint32_t threads = header.thread_count.exchange(kMaxThreads - 1);
  const auto contexts_of_one = [&header] {
    const std::uint32_t before = header.context_count;
    std::thread([] {
      Allocate(0x1000'0000, 24);
      Free(0x1000'0000);
    }).join();
    return header.context_count - before;
  };
  contexts_of_one();  // the first may have to make it
  std::uint32_t made = 0;
  for (int i = 0; i < 20; ++i) made += contexts_of_one();
  header.thread_count = threads;
  LeaveWindow(window);

  EXPECT_EQ(made, 0U);
}

TEST_F(RecorderTest, GivesABlockAnAllowanceByAnyAddressInIt) {
  const std::uint32_t window = OpenWindow();
  const auto give = [](std::uint64_t address, std::uint32_t allowance) {
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    agent::SetAllowanceOf(guard, At(address), allowance);
  };
  const auto given = [&] { return Reader().LiveBlocks(window).value().at(0).allowance; };
  agent::RecordAllocation(At(0x6400'0000), 1000, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
  give(0x6400'0000 + 999, 7);
  EXPECT_EQ(given(), 7U);
  EXPECT_EQ(Reader().LiveBlocks(window).value().at(0).size_bytes, 1000U);
  give(0x6400'0008, 0);
  EXPECT_EQ(given(), 0U);
  for (const std::uint64_t other : {0x6400'0000UL + 1000, 0x63FF'FFF0UL, 0UL, ~0UL}) give(other, 7);
  EXPECT_EQ(given(), 0U);
  agent::RecordFree(At(0x6400'0000), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  give(0x6400'0000, 7);
  EXPECT_THAT(Reader().LiveBlocks(window).value(), testing::IsEmpty());
  LeaveWindow(window);
}

TEST_F(RecorderTest, CountsADropForAnAddressThatItCannotHold) {
  const std::uint32_t window = OpenWindow();
  const std::uint64_t before = Reader().Drops(DropReason::kUnaligned);
  Allocate(0x1000'0008, 8);
  LeaveWindow(window);
  EXPECT_EQ(Reader().Drops(DropReason::kUnaligned), before + 1);
  EXPECT_THAT(LiveIn(window), IsEmpty());
}

TEST_F(RecorderTest, KeepsEverySize) {
  const std::map<std::uint64_t, std::uint64_t> sizes = {
      {0x1003'0000, 0},           {0x1003'0100, 510},
      {0x1003'0200, 511},         {0x1003'0300, 512},
      {0x1003'0400, 0x7FFF'FFFF}, {0x1003'0500, 0x8000'0000},
      {0x1003'0600, 1ULL << 46},  {0x1003'0700, (1ULL << 62) - 1},
  };
  const std::uint32_t window = OpenWindow();
  for (const auto& [address, bytes] : sizes) Allocate(address, bytes);
  const auto live = LiveIn(window);
  for (const auto& [address, bytes] : sizes) Free(address);
  const agent::WindowSum after = agent::SumWindow(window);
  LeaveWindow(window);
  EXPECT_EQ(live, sizes);
  EXPECT_EQ(after.bytes, 0);
}

TEST_F(RecorderTest, RecordsNothingForNoBlockThoughTheLowestAddressesAreTheHeaps) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x100, 1);
  Allocate(0, 2);
  const auto live = LiveIn(window);
  Free(0x100);
  LeaveWindow(window);
  EXPECT_EQ(live, (std::map<std::uint64_t, std::uint64_t>{{0x100, 1}}));
}

TEST_F(RecorderTest, RestoresABlockThatWasNotFreedAfterAll) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x1004'0000, 600);
  const std::uint32_t inner = OpenWindow();
  const auto before = Free(0x1004'0000);
  EXPECT_EQ(agent::SumWindow(outer).bytes, 0);
  agent::RestoreBlock(At(0x1004'0000), before.value());
  EXPECT_EQ(agent::SumWindow(outer).bytes, 600);
  EXPECT_EQ(LiveIn(outer), (std::map<std::uint64_t, std::uint64_t>{{0x1004'0000, 600}}));
  EXPECT_THAT(LiveIn(inner), IsEmpty());
  LeaveWindow(inner);
  LeaveWindow(outer);
}

TEST_F(RecorderTest, CountsADropWhereAWindowHasNoRoomForWhatItsThreadsAllocate) {
  std::atomic<std::uint32_t>& count = agent::g_region.header().context_count;
  const std::uint32_t contexts = count.load();
  const std::uint64_t before = Reader().Drops(DropReason::kContextTableFull);
  const std::uint32_t window = OpenWindow();
  count = kMaxContexts;
  Allocate(0x1005'0000, 1);
  Allocate(0x1005'0000, 1);
  count = contexts;
  EXPECT_THAT(LiveIn(window), IsEmpty());
  Allocate(0x1005'0000, 1);
  EXPECT_EQ(LiveIn(window).size(), 1U);
  LeaveWindow(window);
  EXPECT_EQ(Reader().Drops(DropReason::kContextTableFull), before + 2);
}

TEST_F(RecorderTest, CountsWithoutLocksOnAThreadThatOnlyFrees) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1006'0000, 5);
  Allocate(0x1006'0100, 6);
  std::uint64_t counted_elsewhere = 1;
  std::thread([&] {
    // The thread's shard may have been another's.
    ASSERT_TRUE(agent::CanRecord());
    const std::atomic<std::uint64_t>& elsewhere = agent::t_thread.state->shard->freed_else.blocks;
    const std::uint64_t before = elsewhere;
    Free(0x1006'0000);
    counted_elsewhere = elsewhere - before;
  }).join();
  const agent::WindowSum sum = agent::SumWindow(window);
  LeaveWindow(window);
  EXPECT_EQ(sum.bytes, 6);
  EXPECT_EQ(counted_elsewhere, 0U);
}

class FreesOfOthersTest : public RecorderTest {
 protected:
  // Calls `work` on a thread that counts for the current window, as one does once it has freed or
  // allocated there.
  template <typename Work>
  static void OnAThreadOfTheWindow(Work work) {
    std::thread([&] {
      Allocate(0x1008'0000, 1);
      Free(0x1008'0000);
      work();
    }).join();
  }
  static bool FreeInWindow(std::uint64_t address, FreeKind kind = FreeKind::kFree) {
    return agent::RecordFreeInWindow(At(address), kind);
  }
};

TEST_F(FreesOfOthersTest, CountsABlockOfTheWindowWhoeverAllocatedIt) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1006'0000, 5);
  Allocate(0x1006'0100, 600);
  OnAThreadOfTheWindow([] { EXPECT_TRUE(FreeInWindow(0x1006'0100)); });
  const agent::WindowSum sum = agent::SumWindow(window);
  const auto live = LiveIn(window);
  LeaveWindow(window);
  EXPECT_TRUE(sum.is_exact);
  EXPECT_EQ(sum.bytes, 5);
  EXPECT_EQ(sum.blocks, 1);
  EXPECT_EQ(live, (std::map<std::uint64_t, std::uint64_t>{{0x1006'0000, 5}}));
}

// Such a free is noted one by one, too.
TEST_F(FreesOfOthersTest, LeavesABlockOfAnEarlierWindowToRecordFree) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x1006'0000, 5);
  const std::uint32_t inner = OpenWindow();
  OnAThreadOfTheWindow([] { EXPECT_FALSE(FreeInWindow(0x1006'0000)); });
  EXPECT_EQ(LiveIn(outer).size(), 1U);
  LeaveWindow(inner);
  LeaveWindow(outer);
}

TEST_F(FreesOfOthersTest, LeavesABlockToRecordFreeWhereTheThreadStillCountsForTheWindowBefore) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x1006'0000, 5);
  OnAThreadOfTheWindow([] {
    const std::uint32_t inner = OpenWindow();
    EXPECT_FALSE(FreeInWindow(0x1006'0000));
    LeaveWindow(inner);
  });
  EXPECT_EQ(LiveIn(outer).size(), 1U);
  LeaveWindow(outer);
}

TEST_F(FreesOfOthersTest, LeavesABlockOfAnotherPhaseToRecordFree) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1006'0000, 5);
  OnAThreadOfTheWindow([] {
    const std::uint32_t phase = agent::g_phase.exchange(agent::CurrentPhase() + 1);
    EXPECT_FALSE(FreeInWindow(0x1006'0000));
    agent::g_phase = phase;
  });
  EXPECT_EQ(LiveIn(window).size(), 1U);
  LeaveWindow(window);
}

TEST_F(FreesOfOthersTest, LeavesAFreeThatMustNotBeToRecordFree) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1006'0000, 5);
  OnAThreadOfTheWindow([] {
    EXPECT_FALSE(FreeInWindow(0x1006'0000, FreeKind::kDelete));
    EXPECT_FALSE(FreeInWindow(0x1006'0100));
    EXPECT_FALSE(FreeInWindow(0x1006'0008));
  });
  EXPECT_EQ(LiveIn(window).size(), 1U);
  LeaveWindow(window);
}

// A signal's handler may come in between.
TEST_F(FreesOfOthersTest, LeavesABlockToRecordFreeOnAThreadThatRecords) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1006'0000, 5);
  OnAThreadOfTheWindow([] {
    const agent::RecordingGuard guard;
    EXPECT_FALSE(FreeInWindow(0x1006'0000));
  });
  EXPECT_EQ(LiveIn(window).size(), 1U);
  LeaveWindow(window);
}

TEST_F(RecorderTest, TakesABlockWhoseFreeWasNotSeenForGone) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1001'0000, 10);
  Allocate(0x1001'0000, 20);
  const agent::WindowSum sum = agent::SumWindow(window);
  LeaveWindow(window);
  EXPECT_EQ(sum.blocks, 1);
  EXPECT_EQ(sum.bytes, 20);
}

TEST_F(RecorderTest, ChargesAFreeToTheWindowOfTheAllocation) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x1002'0000, 100);
  const std::uint32_t inner = OpenWindow();
  Allocate(0x1002'0100, 11);
  Free(0x1002'0000);
  EXPECT_EQ(agent::SumWindow(inner).bytes, 11);
  EXPECT_EQ(agent::SumWindow(outer).bytes, 0);
  LeaveWindow(inner);
  LeaveWindow(outer);
}

TEST_F(RecorderTest, KeepsAWindowsPeakWithinTheStatedBound) {
  const std::uint32_t window = OpenWindow();
  const std::uint64_t before = Reader().Window(window).peak_live_bytes;
  constexpr std::uint64_t kBlockBytes = 1000;
  constexpr std::uint64_t kBlocks = 3000;
  for (std::uint64_t i = 0; i < kBlocks; ++i) Allocate(0x3100'0000 + i * 1024, kBlockBytes);
  for (std::uint64_t i = 0; i < kBlocks; ++i) Free(0x3100'0000 + i * 1024);
  const std::uint64_t peak = Reader().Window(window).peak_live_bytes - before;
  LeaveWindow(window);
  EXPECT_LE(peak, kBlocks * kBlockBytes);
  EXPECT_GT(peak + kPeakStepBytes, kBlocks * kBlockBytes);
}

// What is within a block is passed over, unless blocks were missing then.
TEST_F(RecorderTest, ListsABlockWithinAnother) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1009'0000, 100'000);
  Allocate(0x1009'8000, 32);
  const std::size_t count = Reader().LiveBlocks(window).value().size();
  const std::vector<LiveBlock> all = Reader().CopyHeap().value().blocks;
  for (const std::uint64_t address : {0x1009'0000UL, 0x1009'8000UL}) Free(address);
  LeaveWindow(window);
  EXPECT_EQ(count, 2U);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [](const LiveBlock& block) { return block.address == 0x1009'8000; }));
}

TEST_F(RecorderTest, SumsTheLiveBlocksOfAWindow) {
  const std::uint32_t window = OpenWindow();
  for (const std::uint64_t address : {0x100A'0000UL, 0x100A'0040UL}) Allocate(address, 24);
  Allocate(0x100A'1000, 5000);
  const std::vector<LiveSum> sums = Reader().SumBlocks().value();
  Amount sum;
  for (const LiveSum& one : sums) {
    if (one.window == window) sum += one.amount;
  }
  for (const std::uint64_t address : {0x100A'0000UL, 0x100A'0040UL, 0x100A'1000UL}) Free(address);
  LeaveWindow(window);

  EXPECT_EQ(sum, (Amount{5048, 3}));
}

TEST_F(RecorderTest, FindsWhichBlocksAreStillLive) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x100B'0000, 24);  // stays
  Allocate(0x100B'0040, 24);  // is freed
  Allocate(0x100B'0080, 24);  // gives way to a larger one
  Allocate(0x5400'0000, 24);  // is in another chunk of the map
  const std::vector<LiveBlock> before = Reader().LiveBlocks(window).value();
  Free(0x100B'0040);
  Free(0x100B'0080);
  Allocate(0x100B'0080, 32);
  const std::vector<LiveBlock> after = Reader().StillLive(before).value();
  std::vector<std::uint64_t> live;
  for (const LiveBlock& block : after) live.push_back(block.address);
  for (const std::uint64_t address : {0x100B'0000UL, 0x100B'0080UL, 0x5400'0000UL}) Free(address);
  LeaveWindow(window);

  EXPECT_EQ(before.size(), 4U);
  EXPECT_EQ(live, (std::vector<std::uint64_t>{0x100B'0000, 0x5400'0000}));
}

TEST_F(RecorderTest, ListsTheBlockThatFollowsALargeOne) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x0FFF'F000, 0x1000 + 24);  // into the next chunk of the map
  Allocate(0x1000'0020, 24);
  Allocate(0x1400'0000, 24);
  const std::size_t count = Reader().LiveBlocks(window).value().size();
  for (const std::uint64_t address : {0x0FFF'F000UL, 0x1000'0020UL, 0x1400'0000UL}) Free(address);
  LeaveWindow(window);
  EXPECT_EQ(count, 3U);
}

TEST_F(RecorderTest, TellsThatAPageIsTheHeapsByWhatHasBegunWhereABlockEndsNow) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x100B'5080, 32);
  Free(0x100B'5080);
  Allocate(0x100B'0100, 0x5000);
  const std::vector<std::uint64_t> pages = Reader().CopyHeap().value().pages;
  Free(0x100B'0100);
  LeaveWindow(window);
  EXPECT_TRUE(std::binary_search(pages.begin(), pages.end(), 0x100B'0000));
  EXPECT_TRUE(std::binary_search(pages.begin(), pages.end(), 0x100B'5000));
  EXPECT_FALSE(std::binary_search(pages.begin(), pages.end(), 0x100B'6000));
}

TEST_F(RecorderTest, ListsABlockOnceThoughTheDirectoryIsScribbledOn) {
  constexpr std::uint64_t kUnused = 0x7FFF;
  std::atomic<std::uint32_t>* const directory = agent::g_region.directory();
  const std::uint32_t window = OpenWindow();
  Allocate(0x1007'0000, 9);
  const std::uint32_t chunk = directory[0x1007'0000 >> kChunkShift];
  for (std::uint64_t i = 0; i < 100; ++i) directory[kUnused + i] = chunk;
  const std::size_t count = Reader().LiveBlocks(window).value().size();
  for (std::uint64_t i = 0; i < 100; ++i) directory[kUnused + i] = 0;
  LeaveWindow(window);
  EXPECT_EQ(count, 1U);
}

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// An allocator's addresses, and the blocks that are live: one thread has allocated
// them, any may free them.
class SharedBlocks {
 public:
  // One that was given back, if there is any.
  std::uint64_t NewAddress() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return next_ += 64;
    const std::uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }
  void GiveBack(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    free_.push_back(address);
  }

  void Add(const Block& block) {
    const std::lock_guard lock(mutex_);
    live_[block.address] = block.bytes;
  }
  // One at random; the model forgets it before the recorder does.
  std::optional<Block> TakeOne(std::mt19937& random) {
    const std::lock_guard lock(mutex_);
    if (live_.empty()) return std::nullopt;
    auto at = live_.lower_bound(kBegin + random() % (next_ - kBegin));
    if (at == live_.end()) at = live_.begin();
    const Block block{at->first, at->second};
    live_.erase(at);
    return block;
  }
  std::map<std::uint64_t, std::uint64_t> live() const { return live_; }

 private:
  static constexpr std::uint64_t kBegin = 0x2000'0000;

  std::mutex mutex_;
  std::uint64_t next_ = kBegin;
  std::vector<std::uint64_t> free_;
  std::map<std::uint64_t, std::uint64_t> live_;
};

std::uint64_t RandomSize(std::mt19937& random) {
  constexpr std::uint64_t kOdd[] = {0, 8, 510, 511, 512, 1ULL << 20, (1ULL << 40) + 7};
  return random() % 4 == 0 ? kOdd[random() % std::size(kOdd)] : random() % 1000;
}

TEST_F(RecorderTest, AgreesWithAModelUnderThreadsThatFreeEachOthersBlocks) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kSteps = 40'000;
  const std::uint32_t window = OpenWindow();
  SharedBlocks blocks;
  const auto allocate = [&](const Block& block) {
    Allocate(block.address, block.bytes);
    blocks.Add(block);
  };
  const auto work = [&](std::uint32_t thread) {
    std::mt19937 random(thread);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      if (random() % 3 != 0) allocate({blocks.NewAddress(), RandomSize(random)});
      const std::optional<Block> taken = blocks.TakeOne(random);
      if (!taken) continue;
      const auto before = Free(taken->address);
      switch (random() % 8) {
        case 0:  // realloc in place
          allocate({taken->address, RandomSize(random)});
          break;
        case 1:  // realloc elsewhere
          allocate({blocks.NewAddress(), RandomSize(random)});
          blocks.GiveBack(taken->address);
          break;
        case 2:  // realloc that fails
          agent::RestoreBlock(At(taken->address), before.value());
          blocks.Add(*taken);
          break;
        default:
          blocks.GiveBack(taken->address);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();

  const agent::WindowSum sum = agent::SumWindow(window);
  const auto live = LiveIn(window);
  LeaveWindow(window);
  std::int64_t bytes = 0;
  for (const auto& [address, size] : blocks.live()) bytes += static_cast<std::int64_t>(size);
  EXPECT_TRUE(sum.is_exact);
  EXPECT_EQ(live, blocks.live());
  EXPECT_EQ(sum.blocks, static_cast<std::int64_t>(blocks.live().size()));
  EXPECT_EQ(sum.bytes, bytes);
}

TEST_F(RecorderTest, ShowsABlockWhileItIsReallocated) {
  Allocate(0x1305'0000, 4000);
  const auto before = agent::RecordFreeToReallocate(At(0x1305'0000), {});
  ASSERT_TRUE(before);

  // Other tests' threads may have ended in the middle of one.
  const auto shown = [] {
    std::vector<ReallocatedCopy> blocks = Reader().ReallocatedBlocks();
    std::erase_if(blocks, [](const auto& block) { return block.address != 0x1305'0000; });
    return blocks;
  };
  ASSERT_EQ(shown().size(), 1U);
  EXPECT_EQ(shown()[0].tid, agent::CurrentTid());
  EXPECT_EQ(shown()[0].size_bytes, 4000U);

  agent::EndReallocation();
  EXPECT_TRUE(shown().empty());
}

TEST_F(RecorderTest, CountsABlockThatCouldNotBeReallocatedAsBefore) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x1305'1000, 70);
  const auto before = agent::RecordFreeToReallocate(At(0x1305'1000), {});
  ASSERT_TRUE(before);
  EXPECT_EQ(agent::SumWindow(window).blocks, 0);
  agent::RestoreBlock(At(0x1305'1000), *before);
  agent::EndReallocation();
  EXPECT_EQ(agent::SumWindow(window).bytes, 70);
  EXPECT_EQ(LiveIn(window), (std::map<std::uint64_t, std::uint64_t>{{0x1305'1000, 70}}));
  LeaveWindow(window);
}

TEST_F(RecorderTest, CountsABlockThatCouldNotBeReallocatedBeforeTheNextWindowForItsOwn) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x1305'2000, 70);
  const auto before = agent::RecordFreeToReallocate(At(0x1305'2000), {});
  ASSERT_TRUE(before);
  const std::uint32_t inner = OpenWindow();
  Allocate(0x1305'3000, 10);  // by a signal handler
  agent::RestoreBlock(At(0x1305'2000), *before);
  agent::EndReallocation();
  EXPECT_EQ(agent::SumWindow(inner).bytes, 10);
  LeaveWindow(inner);
  EXPECT_EQ(agent::SumWindow(outer).bytes, 70);
  LeaveWindow(outer);
}

__attribute__((noinline)) void AllocateInAThread(std::uint64_t address) {
  std::thread([=] {
    agent::RecordAnyAllocation(reinterpret_cast<void*>(address), 8, AllocationKind::kMalloc,
                               LEAKGATE_CALLER_FRAME());
  }).join();
}

std::uint64_t StacksWalked() {
  std::uint64_t walked = 0;
  for (std::uint32_t i = 0; i < agent::g_region.header().shard_count.load(); ++i) {
    walked += agent::g_region.shards()[i].stacks_walked.load();
  }
  return walked;
}

TEST_F(RecorderTest, WalksNoStackAgainForAThreadThatFollowsAnotherOnItsStack) {
  for (int i = 0; i < 3; ++i) AllocateInAThread(0x1305'4000);
  const std::uint64_t walked = StacksWalked();
  for (int i = 0; i < 100; ++i) AllocateInAThread(0x1305'4000);
  EXPECT_LE(StacksWalked(), walked + 10);  // as far as each gets the stack of the one before
  Free(0x1305'4000);
}

TEST_F(RecorderTest, ForgetsCodeOutsideOfModulesOnceItIsUnmapped) {
  agent::g_modules.NoteCodeOutside(0x7000'1234);
  const std::uint32_t before = agent::g_modules.Epoch();
  agent::g_modules.NoteUnmapped(0x7000'2000, 0x7000'3000);
  EXPECT_EQ(agent::g_modules.Epoch(), before);

  agent::g_modules.NoteUnmapped(0x7000'1000, 0x7000'2000);
  EXPECT_NE(agent::g_modules.Epoch(), before);
  const std::uint32_t after = agent::g_modules.Epoch();
  agent::g_modules.NoteUnmapped(0x7000'1000, 0x7000'2000);
  EXPECT_EQ(agent::g_modules.Epoch(), after);
}

TEST_F(RecorderTest, CountsWindowsRightWhileTheyMoveOnUnderOtherThreads) {
  std::atomic<bool> is_done{false};
  std::thread busy([&] {
    for (std::uint64_t step = 0; !is_done; ++step) {
      const std::uint64_t address = 0x8000'0000 + step % 1000 * 64;
      Allocate(address, 5);
      Free(address);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t window = OpenWindow();
    Allocate(0x9000'0000, 123);
    Free(0x9000'0000);
    LeaveWindow(window);
  }
  is_done = true;
  busy.join();
  for (std::uint32_t id = 1; id < Reader().WindowCount(); ++id) {
    EXPECT_EQ(agent::SumWindow(id).blocks, static_cast<std::int64_t>(LiveIn(id).size())) << id;
    if (id > 200) id += 100;
  }
}

}  // namespace
}  // namespace leakgate::test
