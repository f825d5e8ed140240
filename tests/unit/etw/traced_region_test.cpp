#include "runner/etw/traced_region.h"

#include <gmock/gmock.h>

#include "runner/region/region_file.h"
#include "tests/support/trace_events.h"

namespace leakgate {
namespace {

using test::EventMaker;
using test::MadeEvent;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kTracedByRegion = 78;
constexpr std::uint64_t kBlock = 0x5000'1000;

Module ModuleAt(std::uint64_t begin, std::string path) {
  return {.begin = begin,
          .end = begin + 0x1000,
          .bias = begin,
          .path = std::move(path),
          .build_id = "0123456789abcdef"};
}

// A region, and what is written there.
class Written {
 public:
  explicit Written(TracedModules modules)
      : modules_(std::move(modules)),
        file_(RegionFile::Create({.pid = 1}).value()),
        region_(RegionWriter::Open(file_->fd()).value(), modules_) {}

  Written& Play(const std::vector<MadeEvent>& events) {
    for (const MadeEvent& event : events) trace_.Add(event.Get());
    trace_.Finish();
    region_.Write(trace_);
    return *this;
  }
  const RegionReader& reader() const { return file_->reader(); }
  TracedRegion& region() { return region_; }
  std::vector<LiveBlock> Blocks() const { return reader().LiveBlocks(1).value(); }

  // The frames of a block's stack, as their modules' paths.
  std::vector<std::string> PathsOf(const LiveBlock& block) const {
    std::vector<std::string> paths;
    for (const auto& frame : reader().Stack(block.stack).frames) {
      paths.push_back(reader().ModuleOf(frame.module).path);
    }
    return paths;
  }

 private:
  TracedModules modules_;
  std::unique_ptr<RegionFile> file_;
  HeapTrace trace_{kTracedByRegion};
  TracedRegion region_;
};

TracedModules Modules() {
  TracedModules modules;
  modules.Load(ModuleAt(0x1000, "C:/Windows/System32/NTDLL.DLL"), 1);
  modules.Load(ModuleAt(0x4000, "C:/a.exe"), 1);
  return modules;
}

TEST(TracedRegionTest, HasEachLiveBlockWithItsSizeStackAndThread) {
  EventMaker make(kTracedByRegion);
  make.thread = 44;
  Written written(Modules());
  written.Play({make.Allocate(10, kBlock, 30), make.Stack(10, {0x1100, 0x1200, 0x4100, 0x4200}),
                make.Allocate(11, kBlock + 0x20, 7), make.Stack(11, {0x1100, 0x4300}),
                make.Free(12, kBlock + 0x20), make.Allocate(20, kBlock + (1ULL << 33), 1ULL << 34),
                make.Stack(20, {0x4400})});

  const std::vector<LiveBlock> blocks = written.Blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].address, kBlock);
  EXPECT_EQ(blocks[0].size_bytes, 30u);
  EXPECT_EQ(blocks[1].size_bytes, 1ULL << 34);
  const RawStack stack = written.reader().Stack(blocks[0].stack);
  ASSERT_EQ(stack.frames.size(), 2u);  // without the heap's own
  EXPECT_EQ(stack.frames[0].pc, 0x4100u);
  EXPECT_EQ(stack.end, UnwindEnd::kOutermost);
  EXPECT_THAT(written.PathsOf(blocks[0]), ElementsAre("C:/a.exe", "C:/a.exe"));
  const Module module = written.reader().ModuleOf(stack.frames[0].module);
  EXPECT_EQ(module.begin, 0x4000u);
  EXPECT_EQ(module.bias, 0x4000u);
  EXPECT_EQ(module.build_id, "0123456789abcdef");
  EXPECT_EQ(written.reader().Thread(blocks[0].thread).tid, 44);
}

TEST(TracedRegionTest, IsAWholeRegionWithTheProgramsWindowAndItsTotals) {
  const EventMaker make(kTracedByRegion);
  Written written(Modules());
  written.Play({make.Allocate(10, kBlock, 30), make.Stack(10, {0x4100}),
                make.Allocate(11, kBlock + 0x20, 70), make.Stack(11, {0x4100}),
                make.Free(12, kBlock + 0x20), make.Reallocate(13, kBlock, kBlock, 40),
                make.Stack(13, {0x4100})});
  written.region().SetEnd(ProgramEnd::kExit);

  const RegionReader& region = written.reader();
  EXPECT_TRUE(region.IsWhole());
  EXPECT_EQ(region.State(), AgentState::kTracing);
  EXPECT_FALSE(region.HasAgent());
  EXPECT_EQ(region.End(), ProgramEnd::kExit);
  ASSERT_EQ(region.WindowCount(), 2u);
  const WindowCopy window = region.Window(1);
  EXPECT_EQ(window.kind, WindowKind::kProgram);
  EXPECT_EQ(window.state, WindowState::kOpen);
  EXPECT_EQ(window.peak_live_bytes, 100u);
  const Totals totals = region.CurrentTotals();
  EXPECT_EQ(totals.allocated_bytes, 140u);
  EXPECT_EQ(totals.allocated_blocks, 3u);
  EXPECT_EQ(totals.freed_bytes, 100u);
  EXPECT_EQ(totals.freed_blocks, 2u);
}

TEST(TracedRegionTest, TakesOutWhatIsFreedLaterAndKeepsTheRest) {
  const EventMaker make(kTracedByRegion);
  Written written(Modules());
  written.Play({make.Allocate(10, kBlock, 30), make.Stack(10, {0x4100}),
                make.Allocate(11, kBlock + 0x20, 31), make.Stack(11, {0x4100})});
  const std::vector<LiveBlock> before = written.Blocks();
  ASSERT_EQ(before.size(), 2u);

  written.Play(
      {make.Free(20, kBlock), make.Allocate(21, kBlock + 0x60, 32), make.Stack(21, {0x4300})});

  const std::vector<LiveBlock> blocks = written.Blocks();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].address, kBlock + 0x20);
  EXPECT_EQ(blocks[0].stack, before[1].stack);
  EXPECT_EQ(blocks[1].size_bytes, 32u);
}

TEST(TracedRegionTest, NamesTheModuleThatWasThereAtTheTime) {
  TracedModules modules = Modules();
  modules.Load(ModuleAt(0x8000, "C:/first.dll"), 10);
  modules.Unload(0x8000, 20);
  modules.Load(ModuleAt(0x8000, "C:/second.dll"), 30);
  const EventMaker make(kTracedByRegion);
  Written written(std::move(modules));
  written.Play({make.Allocate(15, kBlock, 1), make.Stack(15, {0x8100}),
                make.Allocate(25, kBlock + 0x20, 1), make.Stack(25, {0x8100}),
                make.Allocate(35, kBlock + 0x40, 1), make.Stack(35, {0x8100})});

  const std::vector<LiveBlock> blocks = written.Blocks();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_THAT(written.PathsOf(blocks[0]), ElementsAre("C:/first.dll"));
  EXPECT_THAT(written.PathsOf(blocks[1]), ElementsAre(""));
  EXPECT_THAT(written.PathsOf(blocks[2]), ElementsAre("C:/second.dll"));
}

TEST(TracedRegionTest, FindsNoModuleThatAnotherOneReachedOver) {
  TracedModules modules;
  modules.Load(ModuleAt(0x8000, "C:/large.dll"), 10);
  modules.Unload(0x8000, 20);
  modules.Load(ModuleAt(0x8800, "C:/small.dll"), 30);
  modules.Unload(0x8800, 40);
  modules.Load(ModuleAt(0x8000, "C:/again.dll"), 50);

  EXPECT_EQ(modules.Find(0x8900, 15), 0u);
  EXPECT_EQ(modules.Find(0x8100, 35), std::nullopt);
  EXPECT_EQ(modules.Find(0x8900, 35), 1u);
  EXPECT_EQ(modules.Find(0x8900, 55), 2u);
  EXPECT_EQ(modules.Find(0x9000, 55), std::nullopt);
}

TEST(TracedRegionTest, CountsWhatTheMapCannotHold) {
  const EventMaker make(kTracedByRegion);
  Written written(Modules());
  written.Play({make.Allocate(10, kBlock + 8, 1), make.Stack(10, {0x4100}),
                make.Allocate(11, 1ULL << 60, 1), make.Stack(11, {0x4100}),
                make.Allocate(12, kBlock, 1ULL << 62), make.Stack(12, {0x4100})});

  EXPECT_THAT(written.Blocks(), IsEmpty());
  EXPECT_EQ(written.reader().Drops(DropReason::kUnaligned), 1u);
  EXPECT_EQ(written.reader().Drops(DropReason::kAddressRange), 2u);
}

TEST(TracedRegionTest, KeepsTheStackOfTheSystemsOwnBlocks) {
  const EventMaker make(kTracedByRegion);
  Written written(Modules());
  written.Play({make.Allocate(10, kBlock, 1), make.Stack(10, {0x1100, 0x1200})});

  ASSERT_EQ(written.Blocks().size(), 1u);
  EXPECT_EQ(written.PathsOf(written.Blocks()[0]).size(), 2u);
}

}  // namespace
}  // namespace leakgate
