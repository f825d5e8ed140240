#include "runner/snapshot/view/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "runner/report/finding_text.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

CallTree::CallTree(StackFrames& frames, const std::vector<StackAmount>& stacks) {
  for (const auto& [stack, amount] : stacks) {
    NodeId at = kRoot;
    nodes_[at].amount += amount;
    for (const FrameId frame : PathOf(frames, stack)) {
      at = Child(at, frame);
      nodes_[at].amount += amount;
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
  path.erase(path.begin(), std::find(path.begin(), path.end(), *frames.InnermostUsersOf(stack)));
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

namespace {

using Json = nlohmann::ordered_json;

double Share(std::int64_t bytes, std::int64_t total) {
  return total == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(total);
}

constexpr std::size_t kTopOfTree = 5;
constexpr std::size_t kDepthOfTree = 12;

// Writes the call tree: a line for each frame, indented by its depth.
class TreeLines {
 public:
  TreeLines(StackFrames& frames, const CallTree& tree, const TreeLimits& limits,
            const TextStyle& style)
      : frames_(frames),
        tree_(tree),
        style_(style),
        top_(limits.top.value_or(kTopOfTree)),
        depth_(limits.depth.value_or(kDepthOfTree)),
        table_(AmountTable(limits.of, style)) {}

  std::string Text() {
    AddChildren(CallTree::kRoot, 0);
    return table_.Text("Call tree");
  }

 private:
  void AddChildren(CallTree::NodeId node, std::size_t level) {
    const std::vector<CallTree::NodeId>& children = tree_.Get(node).children;
    if (level == depth_) {
      if (!children.empty()) AddLine(tree_.Get(node).amount, level, "... deeper: --depth");
      return;
    }
    Amount rest;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const CallTree::Node& child = tree_.Get(children[i]);
      if (i >= top_) {
        rest += child.amount;
        continue;
      }
      AddLine(child.amount, level, Label(child));
      AddChildren(children[i], level + 1);
    }
    if (children.size() > top_) {
      AddLine(rest, level, fmt::format("... {} more: --top", children.size() - top_));
    }
  }

  std::string Label(const CallTree::Node& node) const {
    if (node.is_not_taken) return "(stack not taken: --stacks)";
    if (!node.frame) return "(no code of the program's own)";
    const Frame& frame = frames_.Get(*node.frame);
    const std::string place = RelativePath(PlaceOfFrame(frame), style_.base_directory);
    const std::string name = Printable(NameOfFrame(frame));
    return Paint(name, Emphasis::kOwnFrame, node.children.empty() ? style_.colour : Colour::kOff) +
           (place.empty() ? "" : "  " + Printable(place));
  }

  void AddLine(Amount amount, std::size_t level, const std::string& label) {
    table_.Add(AmountCells(amount, tree_.Get(CallTree::kRoot).amount.bytes),
               std::string(2 * level, ' ') + label);
  }

  StackFrames& frames_;
  const CallTree& tree_;
  const TextStyle& style_;
  std::size_t top_;
  std::size_t depth_;
  TextTable table_;
};

Json NodeJson(StackFrames& frames, const CallTree& tree, CallTree::NodeId id, std::size_t depth,
              AmountsOf of) {
  const CallTree::Node& node = tree.Get(id);
  Json json = {{"bytes", node.amount.bytes},
               {of == AmountsOf::kBlocks ? "blocks" : "mappings", node.amount.blocks}};
  if (node.is_not_taken) json["name"] = "stack not taken";
  if (node.frame) {
    const Frame& frame = frames.Get(*node.frame);
    json["name"] = NameOfFrame(frame);
    json["place"] = PlaceOfFrame(frame);
  }
  Json children = Json::array();
  if (depth > 0) {
    for (const CallTree::NodeId child : node.children) {
      children.push_back(NodeJson(frames, tree, child, depth - 1, of));
    }
  }
  json["children"] = std::move(children);
  return json;
}

}  // namespace

TextTable AmountTable(AmountsOf of, const TextStyle& style) {
  const bool is_of_blocks = of == AmountsOf::kBlocks;
  return {{{is_of_blocks ? "SIZE" : "MAPPED", 10},
           {"BYTES", 14},
           {"%", 6},
           {is_of_blocks ? "BLOCKS" : "MAPPINGS", 10}},
          style};
}

TextTable::Cells AmountCells(Amount amount, std::int64_t total_bytes) {
  return {FormatBytes(amount.bytes), std::to_string(amount.bytes),
          fmt::format("{:.1f}", Share(amount.bytes, total_bytes)), std::to_string(amount.blocks)};
}

std::string CallTreeText(StackFrames& frames, const CallTree& tree, const TreeLimits& limits,
                         const TextStyle& style) {
  return TreeLines(frames, tree, limits, style).Text();
}

nlohmann::ordered_json CallTreeJson(StackFrames& frames, const CallTree& tree,
                                    const TreeLimits& limits) {
  return NodeJson(frames, tree, CallTree::kRoot, limits.depth.value_or(kMaxStackDepth), limits.of);
}

}  // namespace leakgate
