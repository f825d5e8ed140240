// What a snapshot file holds besides its blocks, as a view keeps it while the blocks pass by.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/live_block.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/file/snapshot_facts.h"

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

// The blocks of snapshot files of one process, one at a time by address, so that several
// files can be walked side by side, with ids of stacks that they share. Internal to this folder.

// The stacks of several snapshots of one process. Their ids are those of the tree that `nodes`
// holds; the ids of each file are translated into them.
class CommonStacks {
 public:
  // `nodes` begins with kStackRootCount that are no frames, and outlives this.
  explicit CommonStacks(std::vector<SnapshotNode>& nodes) : nodes_(nodes) {}

  // What one file's ids stand for.
  class Translation {
   public:
    explicit Translation(CommonStacks& common);
    // The next nodes of the file.
    void Add(std::span<const SnapshotNode> nodes);
    // REQUIRES: an id of the file's.
    [[nodiscard]] std::uint32_t Of(std::uint32_t stack) const { return ids_[stack]; }

   private:
    CommonStacks& common_;
    std::vector<std::uint32_t> ids_;
  };

 private:
  struct Hash {
    std::size_t operator()(const SnapshotNode& node) const {
      std::uint64_t key = node.pc ^ (std::uint64_t{node.parent} << 32) ^ node.module;
      key = (key ^ (key >> 29)) * 0x9E37'79B9'7F4A'7C15ULL;
      return static_cast<std::size_t>(key ^ (key >> 32));
    }
  };

  std::uint32_t IdOf(const SnapshotNode& node);

  std::vector<SnapshotNode>& nodes_;
  std::unordered_map<SnapshotNode, std::uint32_t, Hash> ids_;
};

// A file whose facts have been read, and nothing else yet.
struct OpenedSnapshot {
  SnapshotReader reader;
  SnapshotFacts facts;
};

[[nodiscard]] Expected<OpenedSnapshot> OpenSnapshot(const std::filesystem::path& path);

// One allocation, and not another in its place, as far as the two snapshots tell. REQUIRES:
// both of one process, with ids of stacks that they share.
[[nodiscard]] bool AreOneBlock(const LiveBlock& a, const LiveBlock& b);

class BlockStream {
 public:
  // The facts have been read. `stacks`: of all files, which give blocks their ids; `contents`:
  // of all, to fill in modules, windows and threads, or nullptr. Both outlive this.
  BlockStream(SnapshotReader reader, CommonStacks& stacks, SnapshotContents* contents);
  BlockStream(const BlockStream&) = delete;
  BlockStream& operator=(const BlockStream&) = delete;

  // Reads on until there is a block, or the end.
  [[nodiscard]] Expected<void> Fill();
  // REQUIRES, as the next: Fill. nullptr: all have been read.
  [[nodiscard]] const LiveBlock* Get() const {
    return at_ < blocks_.size() ? &blocks_[at_] : nullptr;
  }
  void Skip() { ++at_; }

  // Once all blocks have been read.
  [[nodiscard]] const SnapshotClosing& closing() const { return closing_; }
  [[nodiscard]] const std::vector<SnapshotMapping>& mappings() const { return mappings_; }

 private:
  SnapshotReader reader_;
  CommonStacks::Translation stacks_;
  SnapshotVisitor visitor_;
  SnapshotClosing closing_;
  std::vector<SnapshotMapping> mappings_;
  std::vector<LiveBlock> blocks_;
  std::size_t at_ = 0;
};

}  // namespace leakgate
