// What the ways to group a snapshot's blocks are called.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

// "site", "stack", ...: as --group-by has it; none: there is no such.
[[nodiscard]] std::optional<GroupBy> ParseGroupBy(std::string_view word);
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

}  // namespace leakgate
