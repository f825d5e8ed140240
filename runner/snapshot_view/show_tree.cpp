#include "runner/snapshot_view/show_tree.h"

#include <fmt/format.h>

#include "runner/report/finding_text.h"
#include "runner/snapshot_view/amount_columns.h"
#include "runner/snapshot_view/call_tree.h"
#include "runner/snapshot_view/snapshot_groups.h"

namespace leakgate {
namespace {

constexpr std::size_t kTopOfTree = 5;
constexpr std::size_t kDepthOfTree = 12;

class TreeLines {
 public:
  TreeLines(SnapshotView& view, const ShowOptions& options, const TextStyle& style)
      : view_(view),
        tree_(view),
        style_(style),
        top_(options.top.value_or(kTopOfTree)),
        depth_(options.depth.value_or(kDepthOfTree)) {}

  std::string Text() {
    std::string text = "\n" + Paint("Call tree", Emphasis::kHeading, style_.colour) + "\n" +
                       Paint(AmountHeading(), Emphasis::kInTheDistance, style_.colour) + "\n";
    AddChildren(CallTree::kRoot, 0, text);
    return text;
  }

 private:
  void AddChildren(CallTree::NodeId node, std::size_t level, std::string& text) {
    const std::vector<CallTree::NodeId>& children = tree_.Get(node).children;
    if (level == depth_) {
      if (!children.empty()) AddLine(tree_.Get(node).amount, level, "... deeper: --depth", text);
      return;
    }
    Amount rest;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const CallTree::Node& child = tree_.Get(children[i]);
      if (i >= top_) {
        rest += child.amount;
        continue;
      }
      AddLine(child.amount, level, Label(child), text);
      AddChildren(children[i], level + 1, text);
    }
    if (children.size() > top_) {
      AddLine(rest, level, fmt::format("... {} more: --top", children.size() - top_), text);
    }
  }

  std::string Label(const CallTree::Node& node) const {
    if (node.is_not_taken) return "(stack not taken: --stacks)";
    if (!node.frame) return "(no code of the program's own)";
    const Frame& frame = view_.frames().Get(*node.frame);
    const std::string place = RelativePath(PlaceOfFrame(frame), style_.base_directory);
    const std::string name = Printable(NameOfFrame(frame));
    return Paint(name, Emphasis::kOwnFrame, node.children.empty() ? style_.colour : Colour::kOff) +
           (place.empty() ? "" : "  " + Printable(place));
  }

  void AddLine(Amount amount, std::size_t level, const std::string& label, std::string& text) {
    text += AmountColumns(amount, view_.tally().total().bytes) + "  " +
            std::string(2 * level, ' ') + label + "\n";
  }

  SnapshotView& view_;
  CallTree tree_;
  const TextStyle& style_;
  std::size_t top_;
  std::size_t depth_;
};

}  // namespace

std::string TreeText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  return TreeLines(view, options, style).Text();
}

}  // namespace leakgate
