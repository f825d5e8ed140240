#include "runner/snapshot/view/show_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

// Shares are parts of what is live, or of what has been freed.
std::int64_t TotalBytes(SnapshotView& view, GroupBy by, const std::vector<SnapshotGroup>& groups) {
  if (by != GroupBy::kFreedBy) return view.tally().total().bytes;
  std::int64_t bytes = 0;
  for (const SnapshotGroup& group : groups) bytes += group.amount.bytes;
  return bytes;
}

std::string Indented(std::string_view text, const TextStyle& style) {
  return std::string(kAmountColumns + 2, ' ') +
         Paint(text, Emphasis::kInTheDistance, style.colour) + "\n";
}

// Writes a table of groups line by line.
class GroupTable {
 public:
  GroupTable(SnapshotView& view, GroupBy by, const TextStyle& style)
      : view_(view), by_(by), style_(style) {}

  std::string Text(std::size_t top, std::optional<std::size_t> depth) {
    const std::vector<SnapshotGroup> groups = GroupsOf(view_, by_);
    total_ = TotalBytes(view_, by_, groups);
    const std::size_t shown = std::min(top, groups.size());
    std::string text = Title(shown, groups.size());
    for (std::size_t i = 0; i < shown; ++i) text += Row(groups[i], depth);
    if (shown < groups.size()) text += Rest(groups, shown);
    return text;
  }

 private:
  std::string Title(std::size_t shown, std::size_t count) const {
    std::string title(TitleOf(by_));
    if (shown < count) title += fmt::format(": {} of {}", shown, count);
    return "\n" + Paint(title, Emphasis::kHeading, style_.colour) + "\n" +
           Paint(AmountHeading(), Emphasis::kInTheDistance, style_.colour) + "\n";
  }

  std::string Row(const SnapshotGroup& group, std::optional<std::size_t> depth) {
    std::string text = AmountColumns(group.amount, total_) + "  ";
    const bool is_own = HasStacks(by_) && view_.frames().UserFrameOf(group.stack).has_value();
    text += Paint(Printable(group.name), is_own ? Emphasis::kOwnFrame : Emphasis::kGood,
                  is_own ? style_.colour : Colour::kOff);
    if (!group.place.empty()) {
      text += "  " + Printable(RelativePath(group.place, style_.base_directory));
    }
    text += "\n";
    if (HasWindows(by_)) {
      text += Indented(
          Printable(WindowsText(view_.contents(), group.first_window, group.last_window)), style_);
    }
    const bool shows_stack = by_ == GroupBy::kStack || (by_ == GroupBy::kFreedBy && depth);
    if (shows_stack) {
      text += IndentedStackText(view_.frames(), group.stack, depth, kAmountColumns - 2, style_);
    }
    return text;
  }

  std::string Rest(const std::vector<SnapshotGroup>& groups, std::size_t shown) const {
    Amount rest;
    for (std::size_t i = shown; i < groups.size(); ++i) rest += groups[i].amount;
    const std::string text = fmt::format("{} more", groups.size() - shown);
    return AmountColumns(rest, total_) + "  " +
           Paint(text, Emphasis::kInTheDistance, style_.colour) + "\n";
  }

  SnapshotView& view_;
  GroupBy by_;
  const TextStyle& style_;
  std::int64_t total_ = 0;
};

// Shows the `top` largest groups, with at most `depth` frames of each stack, or with all.
std::string GroupsText(SnapshotView& view, GroupBy by, std::size_t top,
                       std::optional<std::size_t> depth, const TextStyle& style) {
  return GroupTable(view, by, style).Text(top, depth);
}

constexpr std::size_t kTopOfOverview = 10;
constexpr std::size_t kTopOfTables = 5;
constexpr std::size_t kTopOfOneTable = 20;

// A table of one group tells nothing, and is left out.
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

std::string IndentedStackText(StackFrames& frames, std::uint32_t stack,
                              std::optional<std::size_t> depth, std::size_t indent,
                              const TextStyle& style) {
  const Finding finding = frames.AsFinding(stack);
  if (finding.stack.empty()) return "";
  std::string text;
  std::size_t lines = 0;
  const std::string whole = StackText(finding, style);
  for (std::size_t at = 0; at < whole.size(); ++lines) {
    const std::size_t end = whole.find('\n', at) + 1;
    if (depth && lines >= *depth) break;
    text += std::string(indent, ' ') + whole.substr(at, end - at);
    at = end;
  }
  return text;
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
    return SnapshotHeading(view, options.things, style) + text + SymbolProblemsText(view.stacks(), style);
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
  return SnapshotHeading(view, options.things, style) + text + SymbolProblemsText(view.stacks(), style);
}

}  // namespace leakgate
