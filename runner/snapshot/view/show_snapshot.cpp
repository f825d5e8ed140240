#include "runner/snapshot/view/show_snapshot.h"

#include <fmt/format.h>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/show_groups.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

// Shares are parts of what is live, or of what has been freed.
std::int64_t TotalBytes(SnapshotView& view, GroupBy by, const std::vector<SnapshotGroup>& groups) {
  if (by != GroupBy::kFreedBy) return view.tally().total().bytes;
  std::int64_t bytes = 0;
  for (const SnapshotGroup& group : groups) bytes += group.sums.bytes;
  return bytes;
}

// Shows the `top` largest groups, with at most `depth` frames of each stack, or with all.
std::string GroupsText(SnapshotView& view, GroupBy by, std::size_t top,
                       std::optional<std::size_t> depth, const TextStyle& style) {
  const std::vector<SnapshotGroup> groups = GroupsOf(view, by);
  const std::int64_t total = TotalBytes(view, by, groups);
  const bool has_stacks = by == GroupBy::kStack || (by == GroupBy::kFreedBy && depth);
  return GroupTableText({view.stacks(), by, std::string(TitleOf(by)), top, depth, has_stacks},
                        groups, AmountTable(AmountsOf::kBlocks, style), style,
                        [&](const SnapshotGroup& group) { return AmountCells(group.sums, total); });
}

// A table with a single group would show nothing new, and is left out.
std::string OverviewText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  std::string text =
      GroupsText(view, GroupBy::kSite, options.top.value_or(kTopOfOverview), {}, style);
  std::vector<GroupBy> others = {GroupBy::kModule, GroupBy::kThread, GroupBy::kWindow,
                                 GroupBy::kAge,    GroupBy::kKind,   GroupBy::kSize};
  if (view.stacks().HasComponents()) others.insert(others.begin(), GroupBy::kComponent);
  for (const GroupBy by : others) {
    if (by != GroupBy::kComponent && GroupsOf(view, by).size() < 2) continue;
    text += GroupsText(view, by, options.top.value_or(kTopOfTables), {}, style);
  }
  return text;
}

// Something may have been freed even if nothing is live.
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

}  // namespace

std::string StackLines(StackFrames& frames, std::uint32_t stack, std::optional<std::size_t> depth,
                       const TextStyle& style) {
  const Finding finding = frames.AsFinding(stack);
  if (finding.stack.empty()) return "";
  const std::string whole = StackText(finding, style);
  std::size_t end = 0;
  for (std::size_t lines = 0; end < whole.size() && lines != depth; ++lines) {
    end = whole.find('\n', end) + 1;
  }
  return whole.substr(0, end);
}

std::string SymbolProblemsText(const StackLookup& stacks, const TextStyle& style) {
  std::string text;
  for (const auto& [path, problem] : stacks.SymbolProblems()) {
    text += "  " + Paint("no symbols", Emphasis::kUncertain, style.colour) +
            Printable(fmt::format(" {}: {}", path, problem)) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string NothingMatchesText() {
  return "\nNothing matches. A pattern is a glob of the whole name: write '*Pool*' for what has "
         "Pool in it.\n";
}

std::string ShowText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  std::string text;
  if (options.things == SnapshotThings::kMappings) {
    text = MappedText(view, options, style);
    return SnapshotHeading(view, options.things, style) + text +
           SymbolProblemsText(view.stacks(), style);
  }
  if (options.group_by == GroupBy::kFreedBy && options.layout != SnapshotLayout::kTree) {
    return SnapshotHeading(view, options.things, style) + FreedByText(view, options, style) +
           SymbolProblemsText(view.stacks(), style);
  }
  if (view.tally().total().blocks == 0) {
    text = view.stacks().IsFiltered() ? NothingMatchesText() : "\nNothing is live.\n";
  } else if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), AmountsByStack(view.tally()));
    text = CallTreeText(view.frames(), tree, {.top = options.top, .depth = options.depth}, style);
  } else if (options.group_by) {
    text = GroupsText(view, *options.group_by, options.top.value_or(kTopOfOneTable), options.depth,
                      style);
  } else {
    text = OverviewText(view, options, style);
  }
  text += FreedByText(view, options, style);
  return SnapshotHeading(view, options.things, style) + text +
         SymbolProblemsText(view.stacks(), style);
}

}  // namespace leakgate
