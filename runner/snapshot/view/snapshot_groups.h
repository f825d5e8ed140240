// How the blocks of a snapshot fall into groups, and what groups and ways to group are called.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

enum class GroupBy {
  kSite,       // the user's own frame
  kStack,      // the whole stack
  kModule,     // the file that has the call site
  kComponent,  // whose code it is, by budget files
  kThread,
  kWindow,  // program, suite or test
  kAge,
  kKind,
  kSize,
  kFreedBy,  // not what is live: what has been freed, by the user's own frame that did so
};

struct SnapshotGroup {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88"; empty if there is none
  Amount amount{};
  // Of sites and stacks: the windows of the earliest and of the latest block; 0: not known.
  std::uint32_t first_window = 0;
  std::uint32_t last_window = 0;
  std::uint32_t stack = 0;  // of sites and stacks: the one that has most; 0: none
};

// "site", "stack", ...: as --group-by has it.
[[nodiscard]] std::string_view Word(GroupBy by);

// "Call sites": above a table.
[[nodiscard]] std::string_view TitleOf(GroupBy by);

// All, in the order in which tables of them stand.
[[nodiscard]] std::vector<GroupBy> AllGroupings();

// A group of these has a window in which its blocks were allocated, or several.
[[nodiscard]] constexpr bool HasWindows(GroupBy by) {
  return by == GroupBy::kSite || by == GroupBy::kStack;
}
// A group of these has a stack.
[[nodiscard]] constexpr bool HasStacks(GroupBy by) {
  return HasWindows(by) || by == GroupBy::kFreedBy;
}

// All groups, the largest first.
[[nodiscard]] std::vector<SnapshotGroup> GroupsOf(SnapshotView& view, GroupBy by);

// What a call site is called: its function, else "libnet.so+0x1a2b"; not made printable.
[[nodiscard]] std::string NameOfFrame(const Frame& frame);
// What stands for the call site of a stack that has no frames: why there are none.
[[nodiscard]] std::string NameWithoutFrames(std::uint32_t stack);
// "src/net/pool.cc:88"; empty if it is not known.
[[nodiscard]] std::string PlaceOfFrame(const Frame& frame);

}  // namespace leakgate
