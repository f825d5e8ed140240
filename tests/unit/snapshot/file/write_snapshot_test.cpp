// A region that the agent's own code has filled, copied into a file.
#include "runner/snapshot/file/write_snapshot.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/agent/traced_region.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate::test {
namespace {

using sample::WholeSnapshot;

class WriteSnapshotTest : public RecordingTest {
 protected:
  static WholeSnapshot Snapshot(const SnapshotRequest& request = {}) {
    const TemporaryDirectory directory;
    const std::string path = directory.File("region.snapshot");
    const Expected<SnapshotClosing> written = WriteSnapshot(Reader(), request, path);
    EXPECT_TRUE(written) << written.error().message;
    Expected<WholeSnapshot> whole = sample::ReadBytes(ReadFile(path));
    EXPECT_TRUE(whole) << whole.error().message;
    return *std::move(whole);
  }

  static std::vector<LiveBlock> BlocksOf(const WholeSnapshot& whole, std::uint32_t window) {
    std::vector<LiveBlock> blocks;
    std::copy_if(whole.blocks.begin(), whole.blocks.end(), std::back_inserter(blocks),
                 [&](const LiveBlock& block) { return block.window == window; });
    return blocks;
  }

  static std::vector<std::uint64_t> PcsOf(const WholeSnapshot& whole, std::uint32_t stack) {
    std::vector<std::uint64_t> pcs;
    while (stack >= kStackRootCount) {
      const SnapshotNode& node = whole.nodes.at(stack - kStackRootCount);
      pcs.push_back(node.pc);
      stack = node.parent;
    }
    return pcs;
  }
};

TEST_F(WriteSnapshotTest, HasWhatTheRegionHas) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x7300'0000, 100);
  Allocate(0x7300'0080, 70'000);
  const std::vector<LiveBlock> live = Reader().LiveBlocks(window).value();
  const WholeSnapshot whole = Snapshot();
  LeaveWindow(window);

  const std::vector<LiveBlock> blocks = BlocksOf(whole, window);
  ASSERT_EQ(blocks.size(), 2U);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].address, live[i].address);
    EXPECT_EQ(blocks[i].size_bytes, live[i].size_bytes);
    EXPECT_EQ(blocks[i].kind, live[i].kind);
    EXPECT_EQ(blocks[i].thread, live[i].thread);
    std::vector<std::uint64_t> pcs;
    for (const RawStack::Frame& frame : Reader().Stack(live[i].stack).frames) {
      pcs.push_back(frame.pc);
    }
    EXPECT_EQ(PcsOf(whole, blocks[i].stack), pcs);
    EXPECT_FALSE(pcs.empty());
  }
  EXPECT_EQ(whole.closing.current_window, window);
  EXPECT_EQ(whole.facts.taken_ns <= whole.closing.finished_ns, true);
}

TEST_F(WriteSnapshotTest, HasOnlyWhatItsBlocksReferTo) {
  const std::uint32_t empty = OpenWindow();
  LeaveWindow(empty);
  const WholeSnapshot whole = Snapshot();
  EXPECT_TRUE(std::none_of(whole.windows.begin(), whole.windows.end(),
                           [&](const SnapshotWindow& it) { return it.id == empty; }));
}

TEST_F(WriteSnapshotTest, AsksForTheNamesOfThreadsThatRun) {
  Allocate(0x7301'0000, 100);
  const WholeSnapshot whole = Snapshot(
      {.facts = {}, .thread_name = [](int tid) { return "thread of " + std::to_string(tid); }});
  ASSERT_FALSE(whole.threads.empty());
  for (const SnapshotThread& thread : whole.threads) {
    if (thread.has_ended) continue;
    EXPECT_EQ(thread.name, "thread of " + std::to_string(thread.tid));
  }
}

TEST_F(WriteSnapshotTest, HasTheModulesOfItsFrames) {
  Allocate(0x7302'0000, 100);
  const WholeSnapshot whole = Snapshot();
  const auto own =
      std::find_if(whole.modules.begin(), whole.modules.end(), [](const SnapshotModule& it) {
        return it.module.path == std::filesystem::read_symlink("/proc/self/exe");
      });
  ASSERT_NE(own, whole.modules.end());
  // Without a build-id the file itself must tell that it is the same.
  EXPECT_TRUE(!own->module.build_id.empty() || own->file_bytes != 0);
}

// What a process has scribbled on makes a file that is wrong, but whole.
TEST_F(WriteSnapshotTest, WritesAWholeFileOfAScribbledRegion) {
  const std::uint32_t window = OpenWindow();
  Allocate(0x7303'0000, 100);
  const std::uint32_t stack = Reader().LiveBlocks(window).value().at(0).stack;
  StackNode& node = agent::g_region.stacks()[stack];
  const StackNode before = node;

  node.parent = stack;  // a stack that goes round
  EXPECT_LE(PcsOf(Snapshot(), BlocksOf(Snapshot(), window).at(0).stack).size(), kMaxStackDepth);
  node.parent = kMaxStackNodes + 5;
  EXPECT_EQ(PcsOf(Snapshot(), BlocksOf(Snapshot(), window).at(0).stack).size(), 1U);
  node = before;
  node.module = kMaxModules + 7;
  const WholeSnapshot whole = Snapshot();
  EXPECT_EQ(whole.nodes.at(BlocksOf(whole, window).at(0).stack - kStackRootCount).module, 0U);
  node = before;
  LeaveWindow(window);
}

}  // namespace
}  // namespace leakgate::test
