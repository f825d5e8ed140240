// Shows what the program has mapped itself, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/mapped_groups.h"
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
  static constexpr std::size_t kTopOfOverview = 10;
  static constexpr std::size_t kTopOfTables = 5;
  static constexpr std::size_t kTopOfOneTable = 20;

  bool HasPages() const { return !all_.ArePagesUnknown(); }

  std::string Heading() const {
    std::string text =
        fmt::format("  {:>10} {:>14} {:>6} {:>10}", "MAPPED", "BYTES", "%", "MAPPINGS");
    if (HasPages()) text += fmt::format(" {:>13}", "RESIDENT");
    if (all_.swapped_bytes != 0) text += fmt::format(" {:>10}", "SWAPPED");
    if (all_.lazily_freed_bytes != 0) text += fmt::format(" {:>10}", "MADV_FREE");
    if (all_.reserved_bytes != 0) text += fmt::format(" {:>10}", "RESERVED");
    return text;
  }

  // What is known of some mappings only is at least so much.
  static std::string ResidentColumn(const MappedAmount& amount) {
    if (amount.ArePagesUnknown()) return "not known";
    return (amount.unknown_bytes != 0 ? ">= " : "") + FormatBytes(amount.resident_bytes);
  }

  std::string Columns(const MappedAmount& amount) const {
    std::string text =
        AmountColumns({amount.committed_bytes, amount.mappings}, all_.committed_bytes);
    if (HasPages()) text += fmt::format(" {:>13}", ResidentColumn(amount));
    if (all_.swapped_bytes != 0) text += fmt::format(" {:>10}", FormatBytes(amount.swapped_bytes));
    if (all_.lazily_freed_bytes != 0) {
      text += fmt::format(" {:>10}", FormatBytes(amount.lazily_freed_bytes));
    }
    if (all_.reserved_bytes != 0) {
      text += fmt::format(" {:>10}", FormatBytes(amount.reserved_bytes));
    }
    return text;
  }

  std::string Table(GroupBy by, const std::vector<MappedGroup>& groups, std::size_t default_top) {
    const std::size_t shown = std::min(options_.top.value_or(default_top), groups.size());
    std::string title(by == GroupBy::kSize ? "Sizes of mappings" : TitleOf(by));
    if (shown < groups.size()) title += fmt::format(": {} of {}", shown, groups.size());
    const std::string heading = Heading();
    std::string text = "\n" + Paint(title, Emphasis::kHeading, style_.colour) + "\n" +
                       Paint(heading, Emphasis::kInTheDistance, style_.colour) + "\n";
    for (std::size_t i = 0; i < shown; ++i) text += Row(by, groups[i], heading.size());
    if (shown == groups.size()) return text;
    MappedAmount rest;
    for (std::size_t i = shown; i < groups.size(); ++i) rest += groups[i].mapped;
    return text + Columns(rest) + "  " +
           Paint(fmt::format("{} more", groups.size() - shown), Emphasis::kInTheDistance,
                 style_.colour) +
           "\n";
  }

  std::string Row(GroupBy by, const MappedGroup& it, std::size_t indent) {
    const SnapshotGroup& group = it.group;
    const bool is_own = HasStacks(by) && view_.frames().UserFrameOf(group.stack).has_value();
    std::string text = Columns(it.mapped) + "  " +
                       Paint(Printable(group.name), is_own ? Emphasis::kOwnFrame : Emphasis::kGood,
                             is_own ? style_.colour : Colour::kOff);
    if (!group.place.empty()) {
      text += "  " + Printable(RelativePath(group.place, style_.base_directory));
    }
    text += "\n";
    if (HasWindows(by)) {
      const std::string windows =
          WindowsText(view_.contents(), group.first_window, group.last_window);
      text += std::string(indent + 2, ' ') +
              Paint(Printable(windows), Emphasis::kInTheDistance, style_.colour) + "\n";
    }
    if (by == GroupBy::kStack) {
      text += IndentedStackText(view_.frames(), group.stack, options_.depth, indent - 2, style_);
    }
    return text;
  }

  SnapshotView& view_;
  const ShowOptions& options_;
  const TextStyle& style_;
  const MappedAmount all_;
};

Json PagesJson(const MappedAmount& amount, std::int64_t known) {
  return amount.ArePagesUnknown() ? Json(nullptr) : Json(known);
}

Json MappedRowJson(SnapshotView& view, GroupBy by, const MappedGroup& it,
                   std::optional<std::size_t> depth) {
  Json json = {{"name", it.group.name}};
  json.update(MappedJson(it.mapped));
  if (!it.group.place.empty()) json["place"] = it.group.place;
  if (!HasStacks(by)) return json;
  json["first_window"] = NameOfWindow(view.contents(), it.group.first_window);
  json["last_window"] = NameOfWindow(view.contents(), it.group.last_window);
  json["stack_end"] = Word(view.frames().EndOf(it.group.stack));
  json["stack"] = StackJson(view.frames(), it.group.stack, depth);
  return json;
}

Json MappedTableJson(SnapshotView& view, GroupBy by, const ShowOptions& options) {
  const std::vector<MappedGroup> groups = MappedGroupsOf(view, by);
  const std::size_t shown = std::min(options.top.value_or(groups.size()), groups.size());
  Json rows = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(MappedRowJson(view, by, groups[i], options.depth));
  }
  return {{"by", Word(by)}, {"groups", groups.size()}, {"rows", std::move(rows)}};
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
                        {.top = options.top, .depth = options.depth, .of = TreeOf::kMappings},
                        style);
  }
  MappedTables tables(view, options, style);
  return options.group_by ? tables.One(*options.group_by) : tables.Overview();
}

void AddMappedJson(SnapshotView& view, const ShowOptions& options, Json& json) {
  json["shown"] = MappedJson(ShownMapped(view));
  if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view.frames(), MappedByStack(view));
    json["tree"] = CallTreeJson(
        view.frames(), tree, {.top = options.top, .depth = options.depth, .of = TreeOf::kMappings});
    return;
  }
  Json tables = Json::array();
  if (options.group_by) {
    tables.push_back(MappedTableJson(view, *options.group_by, options));
  } else {
    for (const GroupBy by : AllGroupings()) {
      const bool is_left_out = by == GroupBy::kStack || by == GroupBy::kFreedBy ||
                               (by == GroupBy::kComponent && !view.stacks().HasComponents());
      if (!is_left_out) tables.push_back(MappedTableJson(view, by, options));
    }
  }
  json["tables"] = std::move(tables);
}

}  // namespace leakgate
