#include <algorithm>
#include <tuple>

#include "runner/report/finding_text.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {

CallTree::CallTree(SnapshotView& view) {
  const std::vector<StackTally>& stacks = view.tally().by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks == 0) continue;
    NodeId at = kRoot;
    nodes_[at].amount += stacks[stack].amount();
    for (const FrameId frame : PathOf(view.frames(), stack)) {
      at = Child(at, frame);
      nodes_[at].amount += stacks[stack].amount();
    }
  }
  for (Node& node : nodes_) {
    std::sort(node.children.begin(), node.children.end(), [&](NodeId a, NodeId b) {
      const Amount& first = nodes_[a].amount;
      const Amount& second = nodes_[b].amount;
      return std::tuple(-first.bytes, -first.blocks, a) <
             std::tuple(-second.bytes, -second.blocks, b);
    });
  }
}

// Returns the frames of the user's part of a stack, the outermost first.
std::vector<FrameId> CallTree::PathOf(StackFrames& frames, std::uint32_t stack) {
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  if (frames.EndOf(stack) == UnwindEnd::kNotTaken) return {kNotTaken};
  if (!site) return {kNotUsers};
  if (!frames.IsUsers(*site)) return {kNotUsers, frames.PlaceOf(*site)};
  std::vector<FrameId> path = frames.FramesOf(stack);
  path.erase(path.begin(), std::find(path.begin(), path.end(), *site));
  const auto is_outer = [&](FrameId frame) {
    const auto [known, is_new] = is_outer_.try_emplace(frame);
    if (is_new) known->second = IsOuterFrame(frames.Get(frame));
    return known->second;
  };
  while (path.size() > 1 && is_outer(path.back())) path.pop_back();
  std::reverse(path.begin(), path.end());
  for (FrameId& frame : path) frame = frames.PlaceOf(frame);
  return path;
}

CallTree::NodeId CallTree::Child(NodeId parent, FrameId frame) {
  const auto [known, is_new] = children_.try_emplace({parent, frame}, nodes_.size());
  if (is_new) {
    nodes_.emplace_back();
    nodes_.back().is_not_taken = frame == kNotTaken;
    if (frame < kNotTaken) nodes_.back().frame = frame;
    nodes_[parent].children.push_back(known->second);
  }
  return known->second;
}

}  // namespace leakgate
