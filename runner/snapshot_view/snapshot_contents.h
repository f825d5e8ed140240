// What a snapshot file holds besides its blocks, as a view keeps it while the blocks pass by.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/live_block.h"
#include "runner/snapshot_file/snapshot_facts.h"

namespace leakgate {

struct SnapshotContents {
  std::string file;
  SnapshotFacts facts;
  SnapshotClosing closing;  // once all has been read
  std::map<std::uint32_t, SnapshotModule> modules;
  std::map<std::uint32_t, SnapshotWindow> windows;
  std::map<std::uint32_t, SnapshotThread> threads;
  std::vector<SnapshotNode> nodes;  // by id; the first kStackRootCount are no frames
  std::vector<SnapshotMapping> mappings;
  std::vector<SnapshotFrees> frees;  // by stack; only where stacks of frees were recorded
};

// Reads `path` into `contents`, which is complete for each batch of blocks as far as they
// refer to it. `use` as SnapshotVisitor::blocks.
[[nodiscard]] Expected<void> ReadContents(
    const std::filesystem::path& path, SnapshotContents& contents,
    const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use);

// "HttpTest.KeepAlive", "HttpTest.KeepAlive #2", "suite HttpTest", "the program": not made
// printable. Of a window that the file does not know: "an unknown window".
[[nodiscard]] std::string NameOfWindow(const SnapshotContents& contents, std::uint32_t window);

// "thread 4711 (worker)", "the main thread (net_test)". Likewise.
[[nodiscard]] std::string NameOfThread(const SnapshotContents& contents, std::uint32_t thread);

}  // namespace leakgate
