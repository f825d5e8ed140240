// The call tree of stacks with amounts, from the outermost frames inwards: each frame has the
// amounts that it allocated, directly or through the functions that it called.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/stack_frames.h"
#include "runner/snapshot/view/text_table.h"

namespace leakgate {

// A stack, and its amount.
using StackAmount = std::pair<std::uint32_t, Amount>;

// Only the user's part of a stack is in it: its callers (GoogleTest, main, the C library) and
// what it allocated with (std::vector, operator new) are left out. All stacks without a frame of
// the user's are below one node.
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

  CallTree(StackFrames& frames, const std::vector<StackAmount>& stacks);

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

// The unit of the second number of amounts.
enum class AmountsOf { kBlocks, kMappings };

// How much of a tree is shown.
struct TreeLimits {
  std::optional<std::size_t> top{};    // the most callees of one frame
  std::optional<std::size_t> depth{};  // the most levels
  AmountsOf of = AmountsOf::kBlocks;
};

// Returns a line for each frame, indented by its depth.
[[nodiscard]] std::string CallTreeText(StackFrames& frames, const CallTree& tree,
                                       const TreeLimits& limits, const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json CallTreeJson(StackFrames& frames, const CallTree& tree,
                                                  const TreeLimits& limits);

// A table whose columns AmountCells fills.
[[nodiscard]] TextTable AmountTable(AmountsOf of, const TextStyle& style);
[[nodiscard]] TextTable::Cells AmountCells(Amount amount, std::int64_t total_bytes);

}  // namespace leakgate
