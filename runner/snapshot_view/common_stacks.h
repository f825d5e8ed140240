// The stacks of two snapshots of one process, under ids that both share.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/snapshot_file/snapshot_facts.h"

namespace leakgate {

// The ids are those of the tree that `nodes` holds; each file's own are translated.
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

}  // namespace leakgate
