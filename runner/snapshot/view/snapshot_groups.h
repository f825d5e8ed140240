// Groups the blocks of a snapshot, and names the groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// Returns "in HttpTest.KeepAlive", or "in several windows, from A to B".
[[nodiscard]] std::string WindowsText(const SnapshotContents& contents, std::uint32_t first,
                                      std::uint32_t last);

// Returns "began 2.31 s before, still open", of a window.
[[nodiscard]] std::string WhenText(const SnapshotContents& contents, std::uint32_t id);

// Returns "17 B to 32 B": the sizes of a class of SnapshotTally's.
[[nodiscard]] std::string SizeClassText(std::size_t size_class);

}  // namespace leakgate
