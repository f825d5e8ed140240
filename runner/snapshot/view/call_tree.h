// The blocks of a snapshot by who called whom, from the outside inwards: each frame has the
// blocks that it allocated, itself or through what it called.
//
// The user's part of a stack counts: what calls it (GoogleTest, main, the C library) and
// what it allocated through (std::vector, operator new) are left out. Stacks without a
// frame of the user's are together under one node.
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
    std::optional<FrameId> frame;  // none: the root, or what stands for no frame of the user's
    bool is_not_taken = false;     // stands for stacks that were not taken
    Amount amount;
    std::vector<NodeId> children;  // the largest first
  };

  // `view` has been read.
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
