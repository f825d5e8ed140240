// Shows what the program has mapped itself, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/mapped_groups.h"
#include "runner/snapshot/view/show_groups.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// Writes tables of groups. Columns that would have nothing are left out.
class MappedTables {
 public:
  MappedTables(SnapshotView& view, const ShowOptions& options, const TextStyle& style)
      : view_(view), options_(options), style_(style), all_(ShownMapped(view)) {}

  std::string Overview() {
    std::string text = Table(GroupBy::kSite, MappedGroupsOf(view_, GroupBy::kSite), kTopOfOverview);
    for (const GroupBy by : {GroupBy::kComponent, GroupBy::kModule, GroupBy::kThread,
                             GroupBy::kWindow, GroupBy::kAge, GroupBy::kKind, GroupBy::kSize}) {
      if (by == GroupBy::kComponent && !view_.stacks().HasComponents()) continue;
      const std::vector<MappedGroup> groups = MappedGroupsOf(view_, by);
      if (by == GroupBy::kComponent || groups.size() > 1) text += Table(by, groups, kTopOfTables);
    }
    return text;
  }

  std::string One(GroupBy by) { return Table(by, MappedGroupsOf(view_, by), kTopOfOneTable); }

 private:
  bool HasPages() const { return !all_.ArePagesUnknown(); }

  TextTable NewTable() const {
    std::vector<TextTable::Column> columns = {
        {"MAPPED", 10}, {"BYTES", 14}, {"%", 6}, {"MAPPINGS", 10}};
    if (HasPages()) columns.push_back({"RESIDENT", 13});
    if (all_.swapped_bytes != 0) columns.push_back({"SWAPPED", 10});
    if (all_.lazily_freed_bytes != 0) columns.push_back({"MADV_FREE", 10});
    if (all_.reserved_bytes != 0) columns.push_back({"RESERVED", 10});
    return {columns, style_};
  }

  // If the value is known of some mappings only, it is shown as a lower bound.
  static std::string ResidentCell(const MappedAmount& amount) {
    if (amount.ArePagesUnknown()) return "not known";
    return (amount.unknown_bytes != 0 ? ">= " : "") + FormatBytes(amount.resident_bytes);
  }

  TextTable::Cells CellsOf(const MappedAmount& amount) const {
    TextTable::Cells cells =
        AmountCells({amount.committed_bytes, amount.mappings}, all_.committed_bytes);
    if (HasPages()) cells.push_back(ResidentCell(amount));
    if (all_.swapped_bytes != 0) cells.push_back(FormatBytes(amount.swapped_bytes));
    if (all_.lazily_freed_bytes != 0) cells.push_back(FormatBytes(amount.lazily_freed_bytes));
    if (all_.reserved_bytes != 0) cells.push_back(FormatBytes(amount.reserved_bytes));
    return cells;
  }

  std::string Table(GroupBy by, const std::vector<MappedGroup>& groups, std::size_t default_top) {
    return GroupTableText(
        {.stacks = view_.stacks(),
         .by = by,
         .title = std::string(by == GroupBy::kSize ? "Sizes of mappings" : TitleOf(by)),
         .top = options_.top.value_or(default_top),
         .depth = options_.depth,
         .has_stacks = by == GroupBy::kStack},
        groups, NewTable(), style_, [&](const MappedGroup& group) { return CellsOf(group.sums); });
  }

  SnapshotView& view_;
  const ShowOptions& options_;
  const TextStyle& style_;
  const MappedAmount all_;
};

Json PagesJson(const MappedAmount& amount, std::int64_t known) {
  return amount.ArePagesUnknown() ? Json(nullptr) : Json(known);
}

Json MappedTableJson(SnapshotView& view, GroupBy by, const ShowOptions& options) {
  const GroupTable shown{.stacks = view.stacks(),
                         .by = by,
                         .top = options.top.value_or(SIZE_MAX),
                         .depth = options.depth};
  const std::vector<MappedGroup> groups = MappedGroupsOf(view, by);
  return GroupTableJson(shown, groups.size(), [&](std::size_t i) {
    Json json = {{"name", groups[i].name}};
    json.update(MappedJson(groups[i].sums));
    if (!groups[i].place.empty()) json["place"] = groups[i].place;
    AddStackJson(json, shown, groups[i].windows, groups[i].stack);
    return json;
  });
}

}  // namespace

Json MappedJson(const MappedAmount& amount) {
  return {{"bytes", amount.committed_bytes},
          {"mappings", amount.mappings},
          {"reserved_bytes", amount.reserved_bytes},
          {"resident_bytes", PagesJson(amount, amount.resident_bytes)},
          {"swapped_bytes", PagesJson(amount, amount.swapped_bytes)},
          {"lazily_freed_bytes", PagesJson(amount, amount.lazily_freed_bytes)},
          {"pages_not_known_bytes", amount.unknown_bytes}};
}

std::string MappedText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  if (ShownMapped(view).mappings == 0) {
    return view.contents().mappings.empty() ? "\nThe program has mapped nothing itself.\n"
                                            : NothingMatchesText();
  }
  if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), MappedByStack(view));
    return CallTreeText(view.frames(), tree,
                        {.top = options.top, .depth = options.depth, .of = AmountsOf::kMappings},
                        style);
  }
  MappedTables tables(view, options, style);
  return options.group_by ? tables.One(*options.group_by) : tables.Overview();
}

void AddMappedJson(SnapshotView& view, const ShowOptions& options, Json& json) {
  json["shown"] = MappedJson(ShownMapped(view));
  if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), MappedByStack(view));
    json["tree"] =
        CallTreeJson(view.frames(), tree,
                     {.top = options.top, .depth = options.depth, .of = AmountsOf::kMappings});
    return;
  }
  Json tables = Json::array();
  if (options.group_by) {
    tables.push_back(MappedTableJson(view, *options.group_by, options));
  } else {
    for (const GroupBy by : kSnapshotGroupings) {
      const bool is_left_out = by == GroupBy::kStack || by == GroupBy::kFreedBy ||
                               (by == GroupBy::kComponent && !view.stacks().HasComponents());
      if (!is_left_out) tables.push_back(MappedTableJson(view, by, options));
    }
  }
  json["tables"] = std::move(tables);
}

}  // namespace leakgate
