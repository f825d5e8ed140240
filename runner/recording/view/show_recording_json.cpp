#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/recording/view/show_recording.h"
#include "runner/region/region_words.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/show_groups.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

using By = GroupBy;
using Json = nlohmann::ordered_json;

Json GroupJson(const RecordingView& view, By by, const RecordingGroup& group) {
  const RecordedCounts& counts = group.sums;
  Json json = {{"name", group.name}};
  if (!group.place.empty()) json["place"] = group.place;
  json["total"] = SumJson(counts.total);
  if (HasAllCounts(by)) {
    json["temporary"] = SumJson(counts.temporary);
    json["outstanding"] = SumJson(counts.Outstanding());
    json["freed_later"] = SumJson(counts.later);
    json["before_freed"] = SumJson(counts.before_freed);
    json["before_kept"] = SumJson(counts.BeforeKept());
    json["peak"] = view.tally().HasPeak() ? SumJson(counts.at_peak) : Json(nullptr);
  }
  if (by == By::kCommit) {
    json["outstanding"] = SumJson(counts.Outstanding());
    json["committed_at_end"] = SumJson(counts.live);
  }
  if (HasStacks(by) || by == By::kModule || by == By::kComponent) {
    const bool is_known = counts.inside_freed.blocks != 0;
    if (HasAllCounts(by)) json["median_ns"] = is_known ? Json(group.median_ns) : Json(nullptr);
    if (by != By::kFreedBy) json["longest_ns"] = is_known ? Json(counts.longest_ns) : Json(nullptr);
  }
  return json;
}

Json TableJson(RecordingView& view, By by, const ShowRecordingOptions& options) {
  const GroupTable shown{.stacks = view.stacks(),
                         .by = by,
                         .top = options.top.value_or(SIZE_MAX),
                         .depth = options.depth};
  const std::vector<RecordingGroup> groups = GroupsOf(view, by, options.WeighOf(view));
  return GroupTableJson(shown, groups.size(), [&](std::size_t i) {
    Json json = GroupJson(view, by, groups[i]);
    AddStackJson(json, shown, groups[i].windows, groups[i].stack);
    return json;
  });
}

Json CommitsJson(RecordingView& view, std::optional<std::size_t> depth) {
  Json commits = Json::array();
  for (const Commit& commit : view.tally().commits().Largest()) {
    commits.push_back(
        {{"address", fmt::format("{:#x}", commit.address)},
         {"bytes", commit.bytes},
         {"impacting_bytes", commit.impacting_bytes},
         {"kind", Word(commit.kind)},
         {"commit_ns", commit.committed_ns},
         {"decommit_ns", commit.decommitted_ns == 0 ? Json(nullptr) : Json(commit.decommitted_ns)},
         {"window", NameOfWindow(view.contents(), commit.window)},
         {"thread", NameOfThread(view.contents(), commit.thread)},
         {"stack", StackJson(view.frames(), commit.stack, depth)}});
  }
  return commits;
}

bool IsLeftOut(RecordingView& view, By by) {
  return by == By::kStack || (by == By::kComponent && !view.stacks().HasComponents()) ||
         (by == By::kFreedBy && view.tally().freed_by().empty()) ||
         (by == By::kCommit && view.tally().commits().empty());
}

}  // namespace

Json ShowRecordingJson(RecordingView& view, const ShowRecordingOptions& options) {
  Json json = {{"schema", "leakgate-recording-view-1"}, {"recording", RecordingFactsJson(view)}};
  json["weighed_by"] = Word(options.WeighOf(view));
  if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), AmountsByStack(view.tally(), options.WeighOf(view)));
    json["tree"] = CallTreeJson(view.frames(), tree, {.top = options.top, .depth = options.depth});
  } else {
    Json tables = Json::array();
    for (const By by : kRecordingGroupings) {
      const bool is_shown = options.group_by ? by == *options.group_by : !IsLeftOut(view, by);
      if (is_shown) tables.push_back(TableJson(view, by, options));
    }
    json["tables"] = std::move(tables);
  }
  const bool has_commits = options.group_by.value_or(By::kCommit) == By::kCommit &&
                           options.layout != SnapshotLayout::kTree;
  if (has_commits) json["largest_commits"] = CommitsJson(view, options.depth);
  json["modules_without_symbols"] = SymbolProblemsJson(view.stacks());
  return json;
}

}  // namespace leakgate
