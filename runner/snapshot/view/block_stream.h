// Reads snapshot files for the view: everything except blocks is kept, while blocks are read one
// after the other.
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
#include "runner/region/region_copies.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/file/snapshot_facts.h"

namespace leakgate {

// The content of a snapshot file except its blocks.
struct SnapshotContents {
  std::string file;
  SnapshotFacts facts;
  SnapshotClosing closing;  // set when the whole file has been read
  std::map<std::uint32_t, SnapshotModule> modules;
  std::map<std::uint32_t, SnapshotWindow> windows;
  std::map<std::uint32_t, SnapshotThread> threads;
  std::vector<SnapshotNode> nodes;  // by id; the first kStackRootCount are not frames
  std::vector<SnapshotMapping> mappings;
  SnapshotPages pages;  // the memory state of the pages of mappings
  // The names of addresses, by module and return address, and why they are not known for some
  // modules; if the file has them.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<KnownFrame>> symbols;
  std::map<std::uint32_t, std::string> symbol_problems;
  std::vector<SnapshotFrees> frees;  // by stack; only where stacks of frees were recorded
};

// The origin of a snapshot: a file, or a moment of a recording. Each call passes the whole snapshot
// to the visitor.
using SnapshotSource = std::function<Expected<void>(const SnapshotVisitor& visitor)>;

// Reads `source`, which is called `name`, into `contents`, and passes the blocks to `use`, as
// SnapshotVisitor::blocks. All that these blocks refer to is in `contents` by then.
[[nodiscard]] Expected<void> ReadContents(
    const SnapshotSource& source, const std::string& name, SnapshotContents& contents,
    const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use);

// Returns the build-id of the program's own file, or an empty text if it is not known.
[[nodiscard]] std::string BuildIdOfImage(const SnapshotContents& contents);

// Returns "HttpTest.KeepAlive", "HttpTest.KeepAlive #2", "suite HttpTest", "the program", or "an
// unknown window" if the file does not have it. The name is not made printable.
[[nodiscard]] std::string NameOfWindow(const SnapshotContents& contents, std::uint32_t window);

// Returns "thread 4711 (worker)", "the main thread (net_test)" or "an unknown thread". The name
// is not made printable.
[[nodiscard]] std::string NameOfThread(const SnapshotContents& contents, std::uint32_t thread);

// The rest is internal to this folder. It reads several files of one process side by side.

// The stacks of several snapshots of one process. Each file has ids of its own, which are
// translated into ids of one tree that they share.
class CommonStacks {
 public:
  // `nodes` gets the frames of the tree. REQUIRES: it begins with kStackRootCount nodes that are
  // no frames, and outlives this object.
  explicit CommonStacks(std::vector<SnapshotNode>& nodes) : nodes_(nodes) {}

  // Translates the ids of one file.
  class Translation {
   public:
    explicit Translation(CommonStacks& common);
    // Adds the next nodes of the file.
    void Add(std::span<const SnapshotNode> nodes);
    // REQUIRES: `stack` is an id of the file.
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

// A file of which only the facts have been read.
struct OpenedSnapshot {
  SnapshotReader reader;
  SnapshotFacts facts;
};

[[nodiscard]] Expected<OpenedSnapshot> OpenSnapshot(const std::filesystem::path& path);

// Returns whether `a` and `b` are the same allocation, as far as snapshots show. REQUIRES: both are
// of one process, with ids of CommonStacks.
[[nodiscard]] bool AreOneBlock(const LiveBlock& a, const LiveBlock& b);

// The blocks of one file, one at a time, by address.
class BlockStream {
 public:
  // `stacks` gives the stacks of all files their ids. Modules, windows and threads go into
  // `contents`, unless it is nullptr. REQUIRES: the facts have been read; both outlive the stream.
  BlockStream(SnapshotReader reader, CommonStacks& stacks, SnapshotContents* contents);
  BlockStream(const BlockStream&) = delete;
  BlockStream& operator=(const BlockStream&) = delete;

  // Reads until there is a block or the file ends.
  [[nodiscard]] Expected<void> Fill();
  // Returns the current block, or nullptr at the end. REQUIRES, as Skip: Fill was called.
  [[nodiscard]] const LiveBlock* Get() const {
    return at_ < blocks_.size() ? &blocks_[at_] : nullptr;
  }
  void Skip() { ++at_; }

  // REQUIRES: all blocks have been read.
  [[nodiscard]] const SnapshotClosing& closing() const { return closing_; }
  [[nodiscard]] const std::vector<SnapshotMapping>& mappings() const { return mappings_; }
  [[nodiscard]] const SnapshotPages& pages() const { return pages_; }
  // What each stack has allocated, freed or not, if that was counted.
  [[nodiscard]] const std::vector<SnapshotAllocations>& allocations() const { return allocations_; }

 private:
  SnapshotReader reader_;
  CommonStacks::Translation stacks_;
  SnapshotVisitor visitor_;
  SnapshotClosing closing_;
  std::vector<SnapshotMapping> mappings_;
  SnapshotPages pages_;
  std::vector<SnapshotAllocations> allocations_;
  std::vector<LiveBlock> blocks_;
  std::size_t at_ = 0;
};

}  // namespace leakgate
