// Groups the blocks of a snapshot, in tables or as a call tree, and names the groups.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

enum class GroupBy {
  kSite,       // the user's own frame
  kStack,      // the whole stack
  kModule,     // the file that has the call site
  kComponent,  // the component of the code, by budget files
  kThread,
  kWindow,  // program, suite or test
  kAge,
  kKind,
  kSize,
  kFreedBy,  // not live blocks, but freed ones, by the user's own frame that freed them
};

struct SnapshotGroup {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88"; empty if there is none
  Amount amount{};
  // Sites and stacks have the windows of their earliest and latest block; 0: not known.
  std::uint32_t first_window = 0;
  std::uint32_t last_window = 0;
  std::uint32_t stack = 0;  // of sites and stacks: the stack that has most bytes; 0: none
};

// Returns the word that --group-by takes: "site", "stack", ...
[[nodiscard]] std::string_view Word(GroupBy by);

// Returns the title of a table: "Call sites".
[[nodiscard]] std::string_view TitleOf(GroupBy by);

// Returns all groupings, in the order in which their tables are shown.
[[nodiscard]] std::vector<GroupBy> AllGroupings();

// Tells whether these groups have windows in which their blocks were allocated.
[[nodiscard]] constexpr bool HasWindows(GroupBy by) {
  return by == GroupBy::kSite || by == GroupBy::kStack;
}
// Tells whether these groups have a stack.
[[nodiscard]] constexpr bool HasStacks(GroupBy by) {
  return HasWindows(by) || by == GroupBy::kFreedBy;
}

// Returns all groups, the largest first.
[[nodiscard]] std::vector<SnapshotGroup> GroupsOf(SnapshotView& view, GroupBy by);

// Returns the key of the call site of a stack. Stacks of one snapshot that have the same key are of
// one group of GroupBy::kSite.
[[nodiscard]] std::uint64_t SiteKeyOf(StackFrames& frames, std::uint32_t stack);

// Returns the name of a call site: its function, else "libnet.so+0x1a2b". It is not made
// printable.
[[nodiscard]] std::string NameOfFrame(const Frame& frame);
// Returns what is shown as the call site of a stack without frames: why it has none.
[[nodiscard]] std::string NameWithoutFrames(std::uint32_t stack);
// Returns "src/net/pool.cc:88", or an empty text if the place is not known.
[[nodiscard]] std::string PlaceOfFrame(const Frame& frame);

// The call tree of a snapshot, from the outermost frames inwards: each frame has the blocks
// that it allocated, directly or through the functions that it called.
//
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
