// Shows groups as a table and as JSON: of a snapshot, of mappings or of a recording.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/snapshot/view/groups.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/snapshot/view/text_table.h"

namespace leakgate {

// The default numbers of groups: in the first table of an overview, in its other tables, and in a
// single table.
inline constexpr std::size_t kTopOfOverview = 10;
inline constexpr std::size_t kTopOfTables = 5;
inline constexpr std::size_t kTopOfOneTable = 20;

// The content of a table of groups.
struct GroupTable {
  StackLookup& stacks;
  GroupBy by{};
  std::string title{};
  std::size_t top = 0;
  std::optional<std::size_t> depth{};  // the most lines of a stack
  bool has_stacks = false;             // there is a stack below each group
};

// Returns the lines of a stack, at most `depth` of them.
[[nodiscard]] std::string StackLines(StackFrames& frames, std::uint32_t stack,
                                     std::optional<std::size_t> depth, const TextStyle& style);

// `cells` makes the cells of a group, and those of the sum of the groups that are left out, which
// has no name.
template <typename Sums, typename CellsOf>
std::string GroupTableText(const GroupTable& shown, const std::vector<Group<Sums>>& groups,
                           TextTable table, const TextStyle& style, const CellsOf& cells) {
  const auto add = [&](TextTable& to, const Group<Sums>& group) {
    StackFrames& frames = shown.stacks.frames();
    to.Add(cells(group), group.name, group.place,
           HasStacks(shown.by) && frames.UserFrameOf(group.stack).has_value());
    if (HasWindows(shown.by) && group.windows.first != UINT32_MAX) {
      const std::string windows = Printable(WindowsText(shown.stacks.contents(), group.windows));
      to.AddBelow("    " + Paint(windows, Emphasis::kInTheDistance, style.colour) + "\n");
    }
    if (shown.has_stacks) to.AddBelow(StackLines(frames, group.stack, shown.depth, style));
  };
  const auto rest = [&](std::span<const Group<Sums>> others) {
    Group<Sums> all;
    for (const Group<Sums>& group : others) all.sums += group.sums;
    return cells(all);
  };
  return table.TextOfFirst(shown.title, groups, shown.top, add, rest);
}

// Adds a group's windows and its stack, as far as they are known.
void AddStackJson(nlohmann::ordered_json& json, const GroupTable& shown, WindowRange windows,
                  std::uint32_t stack);

// Returns the table of `count` groups. `row` makes the JSON of one by its index.
[[nodiscard]] nlohmann::ordered_json GroupTableJson(
    const GroupTable& shown, std::size_t count,
    const std::function<nlohmann::ordered_json(std::size_t index)>& row);

}  // namespace leakgate
