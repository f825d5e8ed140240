// Shows snapshots, and what has changed between two, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/result/words.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/show_groups.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

Json TableJson(SnapshotView& view, GroupBy by, const ShowOptions& options) {
  const GroupTable shown{.stacks = view.stacks(),
                         .by = by,
                         .top = options.top.value_or(SIZE_MAX),
                         .depth = options.depth};
  const std::vector<SnapshotGroup> groups = GroupsOf(view, by);
  return GroupTableJson(shown, groups.size(), [&](std::size_t i) {
    const SnapshotGroup& group = groups[i];
    Json json = {{"name", group.name}, {"bytes", group.sums.bytes}, {"blocks", group.sums.blocks}};
    if (!group.place.empty()) json["place"] = group.place;
    AddStackJson(json, shown, group.windows, group.stack);
    return json;
  });
}

}  // namespace

Json FrameJson(const Frame& frame) {
  return {{"function", frame.function},
          {"file", frame.file},
          {"line", frame.line},
          {"module", frame.module},
          {"offset", fmt::format("{:#x}", frame.module_offset)},
          {"inlined", frame.inlined}};
}

nlohmann::ordered_json StackJson(StackFrames& frames, std::uint32_t stack,
                                 std::optional<std::size_t> depth) {
  Json json = Json::array();
  for (const FrameId id : frames.FramesOf(stack)) {
    if (depth && json.size() >= *depth) break;
    json.push_back(FrameJson(frames.Get(id)));
    json.back()["users"] = frames.IsUsers(id);
  }
  return json;
}

Json SymbolProblemsJson(const StackLookup& stacks) {
  Json problems = Json::array();
  for (const auto& [path, problem] : stacks.SymbolProblems()) {
    problems.push_back({{"module", path}, {"problem", problem}});
  }
  return problems;
}

void AddStackJson(Json& json, const GroupTable& shown, WindowRange windows, std::uint32_t stack) {
  if (!HasStacks(shown.by)) return;
  if (HasWindows(shown.by) && windows.first != UINT32_MAX) {
    json["first_window"] = NameOfWindow(shown.stacks.contents(), windows.first);
    json["last_window"] = NameOfWindow(shown.stacks.contents(), windows.last);
  }
  json["stack_end"] = Word(shown.stacks.frames().EndOf(stack));
  json["stack"] = StackJson(shown.stacks.frames(), stack, shown.depth);
}

Json GroupTableJson(const GroupTable& shown, std::size_t count,
                    const std::function<Json(std::size_t index)>& row) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(shown.top, count); ++i) rows.push_back(row(i));
  return {{"by", Word(shown.by)}, {"groups", count}, {"rows", std::move(rows)}};
}

Json ShowJson(SnapshotView& view, const ShowOptions& options) {
  Json json = {{"schema", "leakgate-snapshot-view-1"}, {"snapshot", SnapshotFactsJson(view)}};
  json["shown"] = {{"bytes", view.tally().total().bytes}, {"blocks", view.tally().total().blocks}};
  if (options.things == SnapshotThings::kMappings) {
    AddMappedJson(view, options, json);
  } else if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), AmountsByStack(view.tally()));
    json["tree"] = CallTreeJson(view.frames(), tree, {.top = options.top, .depth = options.depth});
  } else {
    Json tables = Json::array();
    if (options.group_by) {
      tables.push_back(TableJson(view, *options.group_by, options));
    } else {
      for (const GroupBy by : kSnapshotGroupings) {
        const bool is_left_out = by == GroupBy::kStack ||
                                 (by == GroupBy::kComponent && !view.stacks().HasComponents()) ||
                                 (by == GroupBy::kFreedBy && view.contents().frees.empty());
        if (!is_left_out) tables.push_back(TableJson(view, by, options));
      }
    }
    json["tables"] = std::move(tables);
  }
  json["modules_without_symbols"] = SymbolProblemsJson(view.stacks());
  return json;
}

namespace {

using Json = nlohmann::ordered_json;

// The key of the number of blocks or mappings.
using CountKey = const char*;
constexpr CountKey kBlocks = "blocks";
constexpr CountKey kMappings = "mappings";

Json AmountJson(Amount amount, CountKey key) {
  return {{"bytes", amount.bytes}, {key, amount.blocks}};
}

Json ChangeJson(const SnapshotDiff& diff, const SnapshotChange& change, CountKey key) {
  Json json = {{"before", AmountJson(change.before, key)},
               {"after", AmountJson(change.after, key)},
               {"growth", AmountJson(change.Growth(), key)}};
  if (key == kMappings) {
    const bool is_known = diff.pages_problems.empty();
    json["resident_before"] = is_known ? Json(change.resident_before) : Json(nullptr);
    json["resident_after"] = is_known ? Json(change.resident_after) : Json(nullptr);
  }
  if (!diff.is_same_process) return json;
  json["appeared"] = AmountJson(change.appeared, key);
  json["gone"] = AmountJson(change.gone, key);
  return json;
}

Json ChurnJson(const Churn& churn) {
  return {{"allocated", AmountJson(churn.allocated, kBlocks)},
          {"freed", AmountJson(churn.freed, kBlocks)},
          {"allocated_and_freed", AmountJson(churn.gone, kBlocks)}};
}

template <typename Sums>
Json SiteJson(const Site<Sums>& site) {
  return {{"name", site.name}, {"place", site.place}, {"users", site.is_users}};
}

// Null if it was not counted.
Json ChurnJson(const SnapshotDiff& diff, std::optional<std::size_t> top) {
  if (!diff.has_churn) return nullptr;
  Json sites = Json::array();
  const std::size_t count = diff.churn_sites.size();
  for (std::size_t i = 0; i < std::min(top.value_or(count), count); ++i) {
    const SiteChurn& site = diff.churn_sites[i];
    Json entry = SiteJson(site);
    entry.update(ChurnJson(site.sums));
    sites.push_back(std::move(entry));
  }
  return {{"total", ChurnJson(diff.churn)}, {"sites", std::move(sites)}};
}

Json FactsJson(const std::string& file, const SnapshotFacts& facts) {
  return {{"file", file},     {"image", facts.image},           {"name", facts.name},
          {"pid", facts.pid}, {"generation", facts.generation}, {"occasion", facts.occasion}};
}

Json SitesJson(const SnapshotDiff& diff, const std::vector<SiteChange>& changed, CountKey key,
               std::optional<std::size_t> top) {
  Json sites = Json::array();
  const DiffParts parts = PartsOf(changed);
  for (const ChangedSites* part : {&parts.grown, &parts.shrunk, &parts.touched, &parts.replaced}) {
    for (std::size_t i = 0; i < std::min(top.value_or(part->size()), part->size()); ++i) {
      const SiteChange& site = *(*part)[i];
      Json entry = SiteJson(site);
      entry.update(ChangeJson(diff, site.sums, key));
      sites.push_back(std::move(entry));
    }
  }
  return sites;
}

}  // namespace

Json DiffJson(const SnapshotDiff& diff, std::optional<std::size_t> top) {
  Json json = {{"schema", "leakgate-snapshot-diff-1"},
               {"from", FactsJson(diff.files[0], diff.first)},
               {"to", FactsJson(diff.files[1], diff.second)},
               {"same_process", diff.is_same_process},
               {"compared_by", diff.is_same_process ? "block" : "call_site"},
               {"with_lines", diff.has_lines},
               {"missing", diff.missing},
               {"modules_without_symbols", diff.module_problems},
               {"total", ChangeJson(diff, diff.total, kBlocks)}};
  json["sites"] = SitesJson(diff, diff.sites, kBlocks, top);
  json["mapped"] = {{"total", ChangeJson(diff, diff.mapped, kMappings)},
                    {"sites", SitesJson(diff, diff.mapped_sites, kMappings, top)},
                    {"pages_problems", diff.pages_problems}};
  json["churn"] = ChurnJson(diff, top);
  return json;
}

}  // namespace leakgate
