#include "runner/recording/view/show_recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/region/amount.h"
#include "runner/region/region_words.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/show_groups.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using By = GroupBy;

std::string Bytes(const RecordedSum& sum) { return FormatBytes(sum.amount().bytes); }

double ShareOf(const RecordedSum& sum, const RecordedSum& all, Weigh weigh) {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  // Temporary blocks are many, and small.
  return weigh == Weigh::kTemporary ? share(sum.blocks, all.blocks) : share(sum.bytes, all.bytes);
}

// Makes a table of groups.
class RecordingTable {
 public:
  RecordingTable(RecordingView& view, By by, Weigh weigh, const TextStyle& style)
      : view_(view), by_(by), weigh_(weigh), style_(style) {}

  // Groups whose weighed sum is 0 are left out, unless `all` is given.
  std::string Text(std::size_t top, std::optional<std::size_t> depth, bool has_all) {
    std::vector<RecordingGroup> groups = GroupsOf(view_, by_, weigh_);
    if (!has_all) {
      std::erase_if(groups, [&](const RecordingGroup& group) {
        return SumOf(group.sums, weigh_).blocks == 0;
      });
    }
    for (const RecordingGroup& group : groups) all_ += group.sums;
    const bool has_stacks = by_ == By::kStack || (HasStacks(by_) && depth);
    return GroupTableText({view_.stacks(), by_, Title(), top, depth, has_stacks}, groups,
                          NewTable(), style_,
                          [&](const RecordingGroup& group) { return CellsOf(group); });
  }

 private:
  // Only groups of stacks have lifetimes.
  bool HasTimes() const { return HasStacks(by_) || by_ == By::kModule || by_ == By::kComponent; }

  std::string Title() const {
    std::string title(TitleOf(by_));
    if (HasAllCounts(by_)) title += fmt::format(" by {}", Word(weigh_));
    return IsIncomplete(view_) ? title + " (incomplete)" : title;
  }

  TextTable NewTable() const {
    if (by_ == By::kCommit) {
      return {{{"COMMITTED"}, {"IMPACTING"}, {"COMMITS"}, {"AT THE END"}, {"LONGEST"}}, style_};
    }
    if (!HasAllCounts(by_)) return AmountTable(AmountsOf::kBlocks, style_);
    std::vector<TextTable::Column> columns = {{"PEAK"},   {"OUTSTANDING"}, {"TOTAL"},
                                              {"BLOCKS"}, {"TEMPORARY"},   {"%", 6}};
    if (HasTimes()) columns.insert(columns.end(), {{"MEDIAN", 9}, {"LONGEST", 9}});
    return {columns, style_};
  }

  // The groups that are left out have no common lifetime.
  TextTable::Cells CellsOf(const RecordingGroup& group) const {
    const RecordedCounts& counts = group.sums;
    const auto time = [&](std::uint64_t ns, bool is_known) {
      return is_known && ns != 0 && !group.name.empty() ? LifetimeText(ns) : std::string("-");
    };
    if (by_ == By::kCommit) {
      return {Bytes(counts.total), Bytes(counts.Outstanding()), std::to_string(counts.total.blocks),
              Bytes(counts.live), time(counts.longest_ns, true)};
    }
    if (!HasAllCounts(by_)) return AmountCells(counts.total.amount(), all_.total.amount().bytes);
    TextTable::Cells cells = {
        view_.tally().HasPeak() ? Bytes(counts.at_peak) : "-",
        Bytes(counts.Outstanding()),
        Bytes(counts.total),
        std::to_string(counts.total.blocks),
        std::to_string(counts.temporary.blocks),
        fmt::format("{:.1f}", ShareOf(SumOf(counts, weigh_), SumOf(all_, weigh_), weigh_))};
    if (!HasTimes()) return cells;
    const bool is_known = counts.inside_freed.blocks != 0 && counts.longest_ns != 0;
    cells.push_back(time(group.median_ns, is_known));
    cells.push_back(time(counts.longest_ns, is_known));
    return cells;
  }

  RecordingView& view_;
  By by_;
  Weigh weigh_;
  const TextStyle& style_;
  RecordedCounts all_;
};

// The largest commits, one by one.
std::string CommitsText(RecordingView& view, std::size_t top, const TextStyle& style) {
  const std::vector<Commit> commits = view.tally().commits().Largest();
  if (commits.empty()) return "";
  TextTable table({{"SIZE"}, {"IMPACTING"}, {"COMMIT"}, {"DECOMMIT"}}, style, "KIND         ");
  for (std::size_t i = 0; i < std::min(top, commits.size()); ++i) {
    const Commit& commit = commits[i];
    const std::optional<FrameId> site = view.frames().CallSiteOf(commit.stack);
    std::string name =
        site ? NameOfFrame(view.frames().Get(*site)) : NameWithoutFrames(commit.stack);
    if (site) {
      const std::string place = PlaceOfFrame(view.frames().Get(*site));
      if (!place.empty()) name += "  " + RelativePath(place, style.base_directory);
    }
    table.Add(
        {FormatBytes(AmountOf(commit.bytes, 0).bytes),
         FormatBytes(AmountOf(commit.impacting_bytes, 0).bytes), MomentText(commit.committed_ns),
         commit.decommitted_ns == 0 ? "-" : MomentText(commit.decommitted_ns)},
        fmt::format("{:<13}  {}", Word(commit.kind), Printable(name)));
  }
  return table.Text("Largest commits");
}

class Overview {
 public:
  Overview(RecordingView& view, const ShowRecordingOptions& options, const TextStyle& style)
      : view_(view), options_(options), style_(style) {}

  std::string Text() {
    const Weigh first = options_.WeighOf(view_);
    std::string text = Table(By::kSite, first, kTopOfOverview);
    // Shows how the other sums are composed, unless one sum is asked for.
    if (!options_.weigh) {
      const RecordedCounts& all = view_.tally().all();
      if (all.Outstanding().blocks != 0) text += Others(Weigh::kOutstanding);
      if (all.temporary.blocks != 0) text += Others(Weigh::kTemporary);
    }
    if (view_.stacks().HasComponents()) text += Table(By::kComponent, first, kTopOfTables);
    // A table with a single group would show nothing new, and is left out.
    for (const By by : {By::kModule, By::kThread, By::kWindow, By::kSize, By::kLifetime}) {
      if (GroupsOf(view_, by, first).size() > 1) text += Table(by, first, kTopOfTables);
    }
    if (!view_.tally().freed_by().empty()) text += Table(By::kFreedBy, first, kTopOfTables);
    if (!view_.tally().commits().empty()) text += Table(By::kCommit, first, kTopOfTables);
    return text;
  }

 private:
  // Shows the call sites by another sum, unless the first table has all of them.
  std::string Others(Weigh weigh) {
    const std::size_t first = options_.top.value_or(kTopOfOverview);
    const bool has_all = GroupsOf(view_, By::kSite, weigh).size() <= first;
    return has_all ? "" : Table(By::kSite, weigh, kTopOfTables);
  }

  std::string Table(By by, Weigh weigh, std::size_t top) {
    const bool has_all = !HasAllCounts(by) || weigh == options_.WeighOf(view_);
    const std::size_t most = by == By::kLifetime ? LifetimeDecades::kDecades : top;
    return RecordingTable(view_, by, weigh, style_).Text(options_.top.value_or(most), {}, has_all);
  }

  RecordingView& view_;
  const ShowRecordingOptions& options_;
  const TextStyle& style_;
};

std::string OneTable(RecordingView& view, const ShowRecordingOptions& options,
                     const TextStyle& style) {
  const By by = *options.group_by;
  const std::size_t top = options.top.value_or(kTopOfOneTable);
  if (by == By::kFreedBy && view.tally().freed_by().empty()) {
    return "\nWho frees was not recorded; that begins with --stacks alloc,realloc,free.\n";
  }
  if (by == By::kCommit && view.tally().commits().empty()) {
    return "\nThe program has mapped nothing itself.\n";
  }
  std::string text =
      RecordingTable(view, by, options.WeighOf(view), style).Text(top, options.depth, true);
  return by == By::kCommit ? text + CommitsText(view, top, style) : text;
}

std::string NothingText(const RecordingView& view) {
  if (view.query().stacks.filters.empty()) return "\nNothing was allocated or freed.\n";
  return NothingMatchesText();
}

}  // namespace

std::string ShowRecordingText(RecordingView& view, const ShowRecordingOptions& options,
                              const TextStyle& style) {
  std::string text = RecordingHeading(view, style);
  const bool is_of_blocks = options.group_by != By::kFreedBy && options.group_by != By::kCommit;
  if (is_of_blocks && view.tally().all().IsEmpty()) {
    text += NothingText(view);
    if (!options.group_by && !view.tally().commits().empty()) {
      text += RecordingTable(view, By::kCommit, Weigh::kTotal, style).Text(kTopOfTables, {}, true);
    }
  } else if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), AmountsByStack(view.tally(), options.WeighOf(view)));
    text += CallTreeText(view.frames(), tree, {.top = options.top, .depth = options.depth}, style);
  } else if (options.group_by) {
    text += OneTable(view, options, style);
  } else {
    text += Overview(view, options, style).Text();
  }
  return text + SymbolProblemsText(view.stacks(), style);
}

}  // namespace leakgate
