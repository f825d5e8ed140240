#include "runner/snapshot_view/show_snapshot.h"

#include <fmt/format.h>

#include "runner/report/finding_text.h"
#include "runner/snapshot_view/show_groups.h"
#include "runner/snapshot_view/show_tree.h"

namespace leakgate {
namespace {

constexpr std::size_t kTopOfOverview = 10;
constexpr std::size_t kTopOfTables = 5;
constexpr std::size_t kTopOfOneTable = 20;

// What is of one group only tells nothing.
std::string OverviewText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  std::string text =
      GroupsText(view, GroupBy::kSite, options.top.value_or(kTopOfOverview), {}, style);
  std::vector<GroupBy> others = {GroupBy::kModule, GroupBy::kThread, GroupBy::kWindow,
                                 GroupBy::kAge,    GroupBy::kKind,   GroupBy::kSize};
  if (view.HasComponents()) others.insert(others.begin(), GroupBy::kComponent);
  for (const GroupBy by : others) {
    if (by != GroupBy::kComponent && view.Groups(by).size() < 2) continue;
    text += GroupsText(view, by, options.top.value_or(kTopOfTables), {}, style);
  }
  return text;
}

// What has been freed is there, too, where nothing is live.
std::string FreedByText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  const bool is_asked = !options.group_by || options.group_by == GroupBy::kFreedBy;
  if (!is_asked || options.layout == SnapshotLayout::kTree) return "";
  if (view.contents().frees.empty() && !options.group_by) return "";
  if (view.contents().frees.empty()) {
    return "\nWho frees was not recorded; that begins with a session of --stacks "
           "alloc,realloc,free.\n";
  }
  const std::size_t top = options.group_by ? kTopOfOneTable : kTopOfTables;
  return GroupsText(view, GroupBy::kFreedBy, options.top.value_or(top), options.depth, style);
}

// Of the modules that were looked into: why one has no symbols.
std::string SymbolProblems(SnapshotView& view, const TextStyle& style) {
  std::string text;
  for (const auto& [id, problem] : view.frames().problems()) {
    const std::string path = view.contents().modules.at(id).module.path;
    text += "  " + Paint("no symbols", Emphasis::kUncertain, style.colour) +
            Printable(fmt::format(" {}: {}", path, problem)) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string ShowText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  std::string text;
  if (options.group_by == GroupBy::kFreedBy && options.layout != SnapshotLayout::kTree) {
    return SnapshotHeading(view, style) + FreedByText(view, options, style) +
           SymbolProblems(view, style);
  }
  if (view.tally().total().blocks == 0) {
    text = view.filters().empty() ? "\nNothing is live.\n"
                                  : "\nNothing matches. A pattern is a glob of the whole name: "
                                    "write '*Pool*' for what has Pool in it.\n";
  } else if (options.layout == SnapshotLayout::kTree) {
    text = TreeText(view, options, style);
  } else if (options.group_by) {
    text = GroupsText(view, *options.group_by, options.top.value_or(kTopOfOneTable), options.depth,
                      style);
  } else {
    text = OverviewText(view, options, style);
  }
  text += FreedByText(view, options, style);
  return SnapshotHeading(view, style) + text + SymbolProblems(view, style);
}

}  // namespace leakgate
