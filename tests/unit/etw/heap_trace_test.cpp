#include "runner/etw/heap_trace.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/trace_events.h"

namespace leakgate {
namespace {

using test::EventMaker;
using test::MadeEvent;
using testing::ElementsAre;

constexpr std::uint32_t kTraced = 77;

HeapTrace Played(const std::vector<MadeEvent>& events) {
  HeapTrace trace(kTraced);
  for (const MadeEvent& event : events) trace.Add(event.Get());
  trace.Finish();
  return trace;
}

std::vector<std::uint64_t> AddressesOf(const HeapTrace& trace) {
  std::vector<std::uint64_t> addresses;
  for (const TracedBlock& block : trace.LiveBlocks()) addresses.push_back(block.address);
  return addresses;
}

std::vector<std::uint64_t> FramesOf(const HeapTrace& trace, const TracedBlock& block) {
  if (!block.stack) return {};
  const auto frames = trace.Frames(*block.stack);
  return {frames.begin(), frames.end()};
}

// Events whose blocks at the end are one of 30 bytes and one of 7, with stacks of their own.
std::vector<MadeEvent> WholeTrace(const EventMaker& make) {
  return {make.Allocate(10, 0x1000, 30), make.Stack(10, {0x401, 0x402}),
          make.Allocate(20, 0x2000, 64), make.Stack(20, {0x403, 0x402}),
          make.Free(30, 0x2000),         make.Allocate(40, 0x2000, 5),
          make.Stack(40, {0x404}),       make.Reallocate(50, 0x2000, 0x2000, 7),
          make.Stack(50, {0x405, 0x402})};
}

TEST(HeapTraceTest, KeepsWhatIsLiveWithItsStackForBothSizesOfPointers) {
  for (const std::uint8_t pointer_bytes : {std::uint8_t{8}, std::uint8_t{4}}) {
    const HeapTrace trace = Played(WholeTrace(EventMaker(kTraced, pointer_bytes)));

    const std::vector<TracedBlock> blocks = trace.LiveBlocks();
    ASSERT_THAT(AddressesOf(trace), ElementsAre(0x1000, 0x2000));
    EXPECT_EQ(blocks[0].size_bytes, 30u);
    EXPECT_THAT(FramesOf(trace, blocks[0]), ElementsAre(0x401, 0x402));
    EXPECT_EQ(blocks[1].size_bytes, 7u);
    EXPECT_THAT(FramesOf(trace, blocks[1]), ElementsAre(0x405, 0x402));
    EXPECT_EQ(DescribeLosses(trace.losses()), "");
    EXPECT_EQ(trace.heap_events(), 5u);
  }
}

TEST(HeapTraceTest, KeepsTheSameOfEventsInAnyOrder) {
  std::vector<MadeEvent> events = WholeTrace(EventMaker(kTraced));
  const std::vector<TracedBlock> in_order = Played(events).LiveBlocks();
  for (std::size_t round = 0; round < events.size(); ++round) {
    std::rotate(events.begin(), events.begin() + 1, events.end());
    const HeapTrace trace = Played(events);
    EXPECT_THAT(AddressesOf(trace), ElementsAre(0x1000, 0x2000));
    EXPECT_EQ(DescribeLosses(trace.losses()), "");
  }
  std::reverse(events.begin(), events.end());
  EXPECT_EQ(Played(events).LiveBlocks().size(), in_order.size());
}

TEST(HeapTraceTest, CountsEventsThatAreTooLateToBePutInOrder) {
  const EventMaker make(kTraced);
  std::vector<MadeEvent> events;
  for (std::uint64_t i = 0; i <= EventOrder::kHeldEvents; ++i) {
    events.push_back(make.Allocate(100 + i, 0, 1));  // it failed
  }
  events.push_back(make.Allocate(50, 0x1000, 8));
  events.push_back(make.Stack(50, {0x401}));

  const HeapTrace trace = Played(events);

  EXPECT_EQ(trace.losses().late_events, 2u);
  EXPECT_THAT(AddressesOf(trace), ElementsAre(0x1000));
}

TEST(HeapTraceTest, TakesMovedReallocationsForTheAllocationAndTheFreeThatTellThem) {
  const EventMaker make(kTraced);
  const HeapTrace trace =
      Played({make.Allocate(10, 0x1000, 8), make.Stack(10, {0x401}), make.Allocate(20, 0x3000, 80),
              make.Stack(20, {0x402}), make.Free(21, 0x1000),
              make.Reallocate(22, 0x3000, 0x1000, 80), make.Stack(22, {0x403})});

  ASSERT_THAT(AddressesOf(trace), ElementsAre(0x3000));
  EXPECT_THAT(FramesOf(trace, trace.LiveBlocks()[0]), ElementsAre(0x402));
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapTraceTest, CountsMovedReallocationsWhoseAllocationIsMissing) {
  const EventMaker make(kTraced);
  const HeapTrace trace = Played({make.Allocate(10, 0x1000, 8), make.Stack(10, {0x401}),
                                  make.Reallocate(22, 0x3000, 0x1000, 80)});

  EXPECT_EQ(trace.losses().unknown_blocks, 1u);
}

TEST(HeapTraceTest, ForgetsTheBlocksOfADestroyedHeapAndNoneOfItsSuccessor) {
  const EventMaker make(kTraced);
  const HeapTrace trace =
      Played({make.Allocate(10, 0x1000, 8, 0x99000), make.Stack(10, {0x401}),
              make.Allocate(11, 0x8000, 8), make.Stack(11, {0x401}), make.DestroyHeap(20, 0x99000),
              make.Allocate(30, 0x1000, 9, 0x99000), make.Stack(30, {0x401}),
              make.Allocate(31, 0x1100, 9, 0x99000), make.Stack(31, {0x401})});

  EXPECT_THAT(AddressesOf(trace), ElementsAre(0x1000, 0x1100, 0x8000));
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapTraceTest, JoinsStacksByThreadAndNotByTimeAlone) {
  EventMaker one(kTraced);
  EventMaker other(kTraced);
  other.thread = 6;
  const HeapTrace trace = Played({one.Allocate(10, 0x1000, 1), other.Allocate(10, 0x2000, 2),
                                  other.Stack(10, {0x602}), one.Stack(10, {0x501})});

  const std::vector<TracedBlock> blocks = trace.LiveBlocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_THAT(FramesOf(trace, blocks[0]), ElementsAre(0x501));
  EXPECT_THAT(FramesOf(trace, blocks[1]), ElementsAre(0x602));
}

TEST(HeapTraceTest, JoinsStacksOfOneTimeInTheirOrder) {
  const EventMaker make(kTraced);
  const HeapTrace trace = Played({make.Allocate(10, 0x1000, 1), make.Stack(10, {0x401}),
                                  make.Allocate(10, 0x2000, 2), make.Stack(10, {0x402})});

  const std::vector<TracedBlock> blocks = trace.LiveBlocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_THAT(FramesOf(trace, blocks[0]), ElementsAre(0x401));
  EXPECT_THAT(FramesOf(trace, blocks[1]), ElementsAre(0x402));
}

TEST(HeapTraceTest, JoinsNoStackOfAnotherTime) {
  const EventMaker make(kTraced);
  const HeapTrace trace = Played({make.Allocate(10, 0x1000, 1), make.Stack(15, {0x401})});

  EXPECT_EQ(DescribeLosses(trace.losses()),
            "1 stack of no known allocation, 1 live block without a stack");
}

TEST(HeapTraceTest, NeedsTheStackOfEachReallocationInPlace) {
  const EventMaker make(kTraced);
  const HeapTrace trace = Played({make.Allocate(10, 0x1000, 1), make.Stack(10, {0x401}),
                                  make.Reallocate(20, 0x1000, 0x1000, 2)});

  EXPECT_EQ(DescribeLosses(trace.losses()), "1 live block without a stack");
}

TEST(HeapTraceTest, LeavesOutFramesOfTheKernelAndStacksOfThemAlone) {
  const EventMaker make(kTraced);
  const HeapTrace trace =
      Played({make.Allocate(10, 0x1000, 1), make.Stack(10, {0xfffff80000001000}),
              make.Stack(10, {0xfffff80000001000, 0x401})});

  ASSERT_EQ(trace.LiveBlocks().size(), 1u);
  EXPECT_THAT(FramesOf(trace, trace.LiveBlocks()[0]), ElementsAre(0x401));
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

// The kernel is of 64 bits, whatever the program is.
TEST(HeapTraceTest, TakesTheSizeOfPointersFromEachEvent) {
  const EventMaker program(kTraced, 4);
  const EventMaker kernel(kTraced, 8);
  const HeapTrace trace = Played(
      {program.Allocate(10, 0x1000, 30), kernel.Stack(10, {0xfffff80000001000, 0x8000'0401, 0x402}),
       program.Allocate(20, 0x2000, 7), program.Stack(20, {0x8000'0403, 0xf000'0402}),
       kernel.Allocate(30, 0x7fff'0000'1000, 9), program.Stack(30, {0x404})});

  const std::vector<TracedBlock> blocks = trace.LiveBlocks();
  ASSERT_THAT(AddressesOf(trace), ElementsAre(0x1000, 0x2000, 0x7fff'0000'1000));
  EXPECT_THAT(FramesOf(trace, blocks[0]), ElementsAre(0x8000'0401, 0x402));
  EXPECT_THAT(FramesOf(trace, blocks[1]), ElementsAre(0x8000'0403, 0xf000'0402));
  EXPECT_THAT(FramesOf(trace, blocks[2]), ElementsAre(0x404));
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapTraceTest, LeavesOutOtherProcesses) {
  const EventMaker other(kTraced + 1);
  const HeapTrace trace = Played({other.Allocate(10, 0x1000, 1), other.Stack(10, {0x401})});

  EXPECT_TRUE(trace.LiveBlocks().empty());
  EXPECT_EQ(trace.heap_events(), 0u);
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapTraceTest, NoticesEachEventThatIsMissingOrRepeated) {
  const EventMaker make(kTraced);
  const std::vector<MadeEvent> whole = {
      make.Allocate(10, 0x1000, 30), make.Stack(10, {0x401}), make.Free(20, 0x1000),
      make.Allocate(30, 0x1000, 31), make.Stack(30, {0x402}), make.Free(40, 0x1000),
      make.Allocate(50, 0x1000, 32), make.Stack(50, {0x403})};
  ASSERT_EQ(DescribeLosses(Played(whole).losses()), "");
  for (std::size_t changed = 0; changed < whole.size(); ++changed) {
    std::vector<MadeEvent> repeated = whole;
    repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(changed), whole[changed]);
    EXPECT_NE(DescribeLosses(Played(repeated).losses()), "") << changed;

    if (changed == 1 || changed == 4) continue;  // stacks of blocks that are freed: not needed
    std::vector<MadeEvent> lacking = whole;
    lacking.erase(lacking.begin() + static_cast<std::ptrdiff_t>(changed));
    // The last allocation's absence shows by its stack.
    EXPECT_NE(DescribeLosses(Played(lacking).losses()), "") << changed;
  }
}

TEST(HeapTraceTest, CountsEventsThatAreCutAnywhere) {
  const EventMaker make(kTraced);
  for (const MadeEvent& event :
       {make.Allocate(10, 0x1000, 30), make.Reallocate(10, 0x1000, 0x1000, 1),
        make.DestroyHeap(10, 0x99000), make.Free(20, 0x1000)}) {
    for (std::size_t size = 0; size < event.payload.size(); ++size) {
      MadeEvent cut = event;
      cut.payload.resize(size);
      EXPECT_EQ(Played({cut}).losses().cut_events, 1u) << size;
    }
  }
  MadeEvent stack = make.Stack(10, {0x401, 0x402});
  stack.payload.resize(stack.payload.size() - 1);
  EXPECT_EQ(Played({stack}).losses().cut_events, 1u);
  stack.payload.resize(15);
  EXPECT_EQ(Played({stack}).losses().cut_events, 1u);
}

TEST(HeapTraceTest, CountsWhatIsUnknownAndPassesOverWhatChangesNoBlock) {
  const EventMaker make(kTraced);
  EXPECT_EQ(Played({make.Make(kHeapProvider, 0x99, 1)}).losses().unknown_events, 1u);
  EXPECT_EQ(Played({make.Make(kStackProvider, 37, 1)}).losses().unknown_events, 1u);
  EXPECT_EQ(Played({EventMaker(kTraced, 2).Allocate(1, 2, 3)}).losses().unknown_events, 1u);
  for (const int opcode : {0x20, 0x25, 0x2e}) {
    const auto event = make.Make(kHeapProvider, static_cast<std::uint8_t>(opcode), 1);
    EXPECT_EQ(DescribeLosses(Played({event}).losses()), "");
  }
  EXPECT_EQ(DescribeLosses(Played({make.Make({1, 2, 3, {}}, 0x21, 1)}).losses()), "");
}

TEST(HeapTraceTest, TellsEachLossWithItsNumber) {
  const EventMaker make(kTraced);
  const HeapTrace trace = Played(
      {make.Make(kLossProvider, kLostEventOpcode, 1), make.Make(kLossProvider, kLostEventOpcode, 2),
       make.Make(kLossProvider, kLostBufferOpcode, 3), make.Stack(4, {0x401}),
       make.Allocate(5, 0x1000, 3), make.Free(6, 0x2000)});

  EXPECT_EQ(DescribeLosses(trace.losses()),
            "2 events lost, 1 buffer lost, 1 stack of no known allocation, 1 live block without a "
            "stack, 1 block freed or resized, but never seen allocated");
}

TEST(TraceStacksTest, KeepsEachStackOnceAndNoMoreThanThereIsRoomFor) {
  TraceStacks stacks(12);
  const std::vector<std::uint64_t> one = {1, 2, 3};
  const std::vector<std::uint64_t> other = {1, 2};
  const auto first = stacks.Keep(one);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(stacks.Keep(one), first);
  EXPECT_EQ(stacks.Keep(other), std::nullopt);
  EXPECT_THAT(stacks.Frames(*first), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace leakgate
