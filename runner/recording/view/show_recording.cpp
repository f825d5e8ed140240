#include "runner/recording/view/show_recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/region/amount.h"
#include "runner/region/region_words.h"
#include "runner/report/finding_text.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using By = RecordingGroupBy;

std::string Bytes(const RecordedSum& sum) { return FormatBytes(sum.amount().bytes); }

double ShareOf(const RecordedSum& sum, const RecordedSum& all, Weigh weigh) {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  // Temporary blocks are many, and small.
  return weigh == Weigh::kTemporary ? share(sum.blocks, all.blocks) : share(sum.bytes, all.bytes);
}

// Writes a table of groups line by line.
class GroupTable {
 public:
  GroupTable(RecordingView& view, By by, Weigh weigh, const TextStyle& style)
      : view_(view), by_(by), weigh_(weigh), style_(style) {}

  // Groups without any of what is weighed are left out if `all` is not asked for.
  std::string Text(std::size_t top, std::optional<std::size_t> depth, bool has_all) {
    std::vector<RecordingGroup> groups = GroupsOf(view_, by_, weigh_);
    if (!has_all) {
      std::erase_if(groups, [&](const RecordingGroup& group) {
        return SumOf(group.counts, weigh_).blocks == 0;
      });
    }
    for (const RecordingGroup& group : groups) all_ += group.counts;
    const std::size_t shown = std::min(top, groups.size());
    std::string text = Title(shown, groups.size());
    for (std::size_t i = 0; i < shown; ++i) text += Row(groups[i], depth);
    if (shown == groups.size()) return text;
    RecordedCounts rest;
    for (std::size_t i = shown; i < groups.size(); ++i) rest += groups[i].counts;
    rest.longest_ns = 0;
    return text + Columns(rest, 0) + "  " +
           Paint(fmt::format("{} more", groups.size() - shown), Emphasis::kInTheDistance,
                 style_.colour) +
           "\n";
  }

 private:
  // Before the name of a group.
  std::size_t Width() const {
    return by_ == By::kCommit ? 61 : HasAllCounts(by_) ? (HasTimes() ? 93 : 73) : kAmountColumns;
  }
  // Only groups of stacks have lifetimes.
  bool HasTimes() const { return HasStacks(by_) || by_ == By::kModule || by_ == By::kComponent; }

  std::string Title(std::size_t shown, std::size_t count) const {
    std::string title(TitleOf(by_));
    if (HasAllCounts(by_)) title += fmt::format(" by {}", Word(weigh_));
    if (IsIncomplete(view_)) title += " (incomplete)";
    if (shown < count) title += fmt::format(": {} of {}", shown, count);
    return "\n" + Paint(title, Emphasis::kHeading, style_.colour) + "\n" +
           Paint(Heading(), Emphasis::kInTheDistance, style_.colour) + "\n";
  }

  std::string Heading() const {
    if (by_ == By::kCommit) {
      return fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11}", "COMMITTED", "IMPACTING",
                         "COMMITS", "AT THE END", "LONGEST");
    }
    if (!HasAllCounts(by_)) return AmountHeading();
    return fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>6}", "PEAK", "OUTSTANDING", "TOTAL",
                       "BLOCKS", "TEMPORARY", "%") +
           (HasTimes() ? fmt::format(" {:>9} {:>9}", "MEDIAN", "LONGEST") : "");
  }

  std::string Columns(const RecordedCounts& counts, std::uint64_t median_ns) const {
    const auto time = [](std::uint64_t ns, bool is_known) {
      return is_known ? LifetimeText(ns) : std::string("-");
    };
    if (by_ == By::kCommit) {
      return fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11}", Bytes(counts.total),
                         Bytes(counts.Outstanding()), counts.total.blocks, Bytes(counts.live),
                         time(counts.longest_ns, counts.longest_ns != 0));
    }
    if (!HasAllCounts(by_)) {
      return AmountColumns(counts.total.amount(), all_.total.amount().bytes);
    }
    std::string text = fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>6.1f}",
                                   view_.tally().HasPeak() ? Bytes(counts.at_peak) : "-",
                                   Bytes(counts.Outstanding()), Bytes(counts.total),
                                   counts.total.blocks, counts.temporary.blocks,
                                   ShareOf(SumOf(counts, weigh_), SumOf(all_, weigh_), weigh_));
    if (!HasTimes()) return text;
    const bool is_known = counts.inside_freed.blocks != 0 && counts.longest_ns != 0;
    return text + fmt::format(" {:>9} {:>9}", time(median_ns, is_known && median_ns != 0),
                              time(counts.longest_ns, is_known));
  }

  std::string Row(const RecordingGroup& group, std::optional<std::size_t> depth) {
    std::string text = Columns(group.counts, group.median_ns) + "  ";
    const bool is_own = HasStacks(by_) && view_.frames().UserFrameOf(group.stack).has_value();
    text += Paint(Printable(group.name), is_own ? Emphasis::kOwnFrame : Emphasis::kGood,
                  is_own ? style_.colour : Colour::kOff);
    if (!group.place.empty()) {
      text += "  " + Printable(RelativePath(group.place, style_.base_directory));
    }
    text += "\n";
    const bool has_windows = by_ == By::kSite || by_ == By::kStack;
    if (has_windows && group.counts.first_window != UINT32_MAX) {
      const std::string windows =
          WindowsText(view_.contents(), group.counts.first_window, group.counts.last_window);
      text += std::string(Width() + 2, ' ') +
              Paint(Printable(windows), Emphasis::kInTheDistance, style_.colour) + "\n";
    }
    const bool shows_stack = by_ == By::kStack || (HasStacks(by_) && depth);
    if (shows_stack) {
      text += IndentedStackText(view_.frames(), group.stack, depth, Width() - 2, style_);
    }
    return text;
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
  std::string text = "\n" + Paint("Largest commits", Emphasis::kHeading, style.colour) + "\n" +
                     Paint(fmt::format("  {:>11} {:>11} {:>11} {:>11}  {:<13}", "SIZE", "IMPACTING",
                                       "COMMIT", "DECOMMIT", "KIND"),
                           Emphasis::kInTheDistance, style.colour) +
                     "\n";
  for (std::size_t i = 0; i < std::min(top, commits.size()); ++i) {
    const Commit& commit = commits[i];
    const std::optional<FrameId> site = view.frames().CallSiteOf(commit.stack);
    std::string name =
        site ? NameOfFrame(view.frames().Get(*site)) : NameWithoutFrames(commit.stack);
    if (site) {
      const std::string place = PlaceOfFrame(view.frames().Get(*site));
      if (!place.empty()) name += "  " + RelativePath(place, style.base_directory);
    }
    text += fmt::format(
        "  {:>11} {:>11} {:>11} {:>11}  {:<13}  {}\n", FormatBytes(AmountOf(commit.bytes, 0).bytes),
        FormatBytes(AmountOf(commit.impacting_bytes, 0).bytes), MomentText(commit.committed_ns),
        commit.decommitted_ns == 0 ? "-" : MomentText(commit.decommitted_ns), Word(commit.kind),
        Printable(name));
  }
  return text;
}

constexpr std::size_t kTopOfOverview = 10;
constexpr std::size_t kTopOfTables = 5;
constexpr std::size_t kTopOfOneTable = 20;

class Overview {
 public:
  Overview(RecordingView& view, const ShowRecordingOptions& options, const TextStyle& style)
      : view_(view), options_(options), style_(style) {}

  std::string Text() {
    const Weigh first = options_.WeighOf(view_);
    std::string text = Table(By::kSite, first, kTopOfOverview);
    // Unless one sum is asked for: what the others are made of.
    if (!options_.weigh) {
      const RecordedCounts& all = view_.tally().all();
      if (all.Outstanding().blocks != 0) text += Others(Weigh::kOutstanding);
      if (all.temporary.blocks != 0) text += Others(Weigh::kTemporary);
    }
    if (view_.stacks().HasComponents()) text += Table(By::kComponent, first, kTopOfTables);
    // A table of one group tells nothing, and is left out.
    for (const By by : {By::kModule, By::kThread, By::kWindow, By::kSize, By::kLifetime}) {
      if (GroupsOf(view_, by, first).size() > 1) text += Table(by, first, kTopOfTables);
    }
    if (!view_.tally().freed_by().empty()) text += Table(By::kFreedBy, first, kTopOfTables);
    if (!view_.tally().commits().empty()) text += Table(By::kCommit, first, kTopOfTables);
    return text;
  }

 private:
  // The call sites by another sum, unless the first table has all of them.
  std::string Others(Weigh weigh) {
    const std::size_t first = options_.top.value_or(kTopOfOverview);
    const bool has_all = GroupsOf(view_, By::kSite, weigh).size() <= first;
    return has_all ? "" : Table(By::kSite, weigh, kTopOfTables);
  }

  std::string Table(By by, Weigh weigh, std::size_t top) {
    const bool has_all = !HasAllCounts(by) || weigh == options_.WeighOf(view_);
    const std::size_t most = by == By::kLifetime ? LifetimeDecades::kDecades : top;
    return GroupTable(view_, by, weigh, style_).Text(options_.top.value_or(most), {}, has_all);
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
      GroupTable(view, by, options.WeighOf(view), style).Text(top, options.depth, true);
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
      text += GroupTable(view, By::kCommit, Weigh::kTotal, style).Text(kTopOfTables, {}, true);
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
