// The call tree of a snapshot, from the outermost frames inwards: each frame has the blocks
// that it allocated, directly or through the functions that it called.
//
// Only the user's part of a stack is in it: its callers (GoogleTest, main, the C library) and
// what it allocated with (std::vector, operator new) are left out. All stacks without a frame of
// the user's are below one node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

class CallTree {
 public:
  using NodeId = std::size_t;
  static constexpr NodeId kRoot = 0;

  struct Node {
    std::optional<FrameId> frame;  // none: the root, and the node of stacks without user frames
    bool is_not_taken = false;     // the node of stacks that were not recorded
    Amount amount;
    std::vector<NodeId> children;  // the largest first
  };

  // REQUIRES: `view` has been read.
  explicit CallTree(SnapshotView& view);

  [[nodiscard]] const Node& Get(NodeId node) const { return nodes_[node]; }

 private:
  static constexpr FrameId kNotUsers = UINT32_MAX;
  static constexpr FrameId kNotTaken = UINT32_MAX - 1;

  std::vector<FrameId> PathOf(StackFrames& frames, std::uint32_t stack);
  NodeId Child(NodeId parent, FrameId frame);

  std::vector<Node> nodes_{1};
  std::map<std::pair<NodeId, FrameId>, NodeId> children_;
  std::map<FrameId, bool> is_outer_;
};

}  // namespace leakgate
