#include "runner/snapshot_view/show_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runner/report/finding_text.h"
#include "runner/report/json_words.h"
#include "runner/report/quantity_text.h"
#include "runner/snapshot_view/call_tree.h"
#include "runner/snapshot_view/snapshot_groups.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTopOfOverview = 10;
constexpr std::size_t kTopOfTables = 5;
constexpr std::size_t kTopOfOneTable = 20;
constexpr std::size_t kTopOfTree = 5;
constexpr std::size_t kDepthOfTree = 12;

struct GroupWords {
  GroupBy by;
  std::string_view word;
  std::string_view title;
};

constexpr std::array kGroupWords = {
    GroupWords{GroupBy::kSite, "site", "Call sites"},
    GroupWords{GroupBy::kStack, "stack", "Call stacks"},
    GroupWords{GroupBy::kModule, "module", "Modules"},
    GroupWords{GroupBy::kComponent, "component", "Components"},
    GroupWords{GroupBy::kThread, "thread", "Threads"},
    GroupWords{GroupBy::kWindow, "window", "Windows"},
    GroupWords{GroupBy::kAge, "age", "Age"},
    GroupWords{GroupBy::kKind, "kind", "Kinds"},
    GroupWords{GroupBy::kSize, "size", "Sizes of blocks"},
    GroupWords{GroupBy::kFreedBy, "freed-by", "Freed by"},
};

const GroupWords& WordsOf(GroupBy by) {
  return *std::find_if(kGroupWords.begin(), kGroupWords.end(),
                       [&](const GroupWords& words) { return words.by == by; });
}

bool HasWindows(GroupBy by) { return by == GroupBy::kSite || by == GroupBy::kStack; }
bool HasStacks(GroupBy by) { return HasWindows(by) || by == GroupBy::kFreedBy; }

// What shares are of: what is live, or what has been freed.
std::int64_t TotalBytes(SnapshotView& view, GroupBy by, const std::vector<SnapshotGroup>& groups) {
  if (by != GroupBy::kFreedBy) return view.tally().total().bytes;
  std::int64_t bytes = 0;
  for (const SnapshotGroup& group : groups) bytes += group.amount.bytes;
  return bytes;
}

double Share(std::int64_t bytes, std::int64_t total) {
  return total == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(total);
}

std::string AmountColumns(Amount amount, std::int64_t total) {
  return fmt::format("  {:>10} {:>14} {:>6.1f} {:>10}", FormatBytes(amount.bytes), amount.bytes,
                     Share(amount.bytes, total), amount.blocks);
}
constexpr std::size_t kAmountColumns = 2 + 10 + 1 + 14 + 1 + 6 + 1 + 10;

std::string Indented(std::string_view text, const TextStyle& style) {
  return std::string(kAmountColumns + 2, ' ') +
         Paint(text, Emphasis::kInTheDistance, style.colour) + "\n";
}

// "in HttpTest.KeepAlive", "in 2 windows or more, from A to B".
std::string WindowsText(const SnapshotContents& contents, const SnapshotGroup& group) {
  const std::string first = NameOfWindow(contents, group.first_window);
  if (group.first_window == group.last_window) return "in " + first;
  return fmt::format("in several windows, from {} to {}", first,
                     NameOfWindow(contents, group.last_window));
}

// A table of groups, written line by line.
class GroupTable {
 public:
  GroupTable(SnapshotView& view, GroupBy by, const TextStyle& style)
      : view_(view), by_(by), style_(style) {}

  std::string Text(std::size_t top, std::optional<std::size_t> depth) {
    const std::vector<SnapshotGroup> groups = view_.Groups(by_);
    total_ = TotalBytes(view_, by_, groups);
    const std::size_t shown = std::min(top, groups.size());
    std::string text = Title(shown, groups.size());
    for (std::size_t i = 0; i < shown; ++i) text += Row(groups[i], depth);
    if (shown < groups.size()) text += Rest(groups, shown);
    return text;
  }

 private:
  std::string Title(std::size_t shown, std::size_t count) const {
    std::string title(WordsOf(by_).title);
    if (shown < count) title += fmt::format(": {} of {}", shown, count);
    const std::string columns =
        fmt::format("  {:>10} {:>14} {:>6} {:>10}", "SIZE", "BYTES", "%", "BLOCKS");
    return "\n" + Paint(title, Emphasis::kHeading, style_.colour) + "\n" +
           Paint(columns, Emphasis::kInTheDistance, style_.colour) + "\n";
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
      text += Indented(Printable(WindowsText(view_.contents(), group)), style_);
    }
    const bool shows_stack = by_ == GroupBy::kStack || (by_ == GroupBy::kFreedBy && depth);
    if (shows_stack) text += Stack(group.stack, depth);
    return text;
  }

  std::string Stack(std::uint32_t stack, std::optional<std::size_t> depth) {
    Finding finding = view_.frames().AsFinding(stack);
    if (finding.stack.empty()) return "";
    std::string text;
    std::size_t lines = 0;
    const std::string whole = StackText(finding, style_);
    for (std::size_t at = 0; at < whole.size(); ++lines) {
      const std::size_t end = whole.find('\n', at) + 1;
      if (depth && lines >= *depth) break;
      text += std::string(kAmountColumns - 2, ' ') + whole.substr(at, end - at);
      at = end;
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

// What is of one group only tells nothing.
std::string OverviewText(SnapshotView& view, const ShowOptions& options, const TextStyle& style) {
  std::string text =
      GroupTable(view, GroupBy::kSite, style).Text(options.top.value_or(kTopOfOverview), {});
  std::vector<GroupBy> others = {GroupBy::kModule, GroupBy::kThread, GroupBy::kWindow,
                                 GroupBy::kAge,    GroupBy::kKind,   GroupBy::kSize};
  if (view.HasComponents()) others.insert(others.begin(), GroupBy::kComponent);
  for (const GroupBy by : others) {
    if (by != GroupBy::kComponent && view.Groups(by).size() < 2) continue;
    text += GroupTable(view, by, style).Text(options.top.value_or(kTopOfTables), {});
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
  return GroupTable(view, GroupBy::kFreedBy, style).Text(options.top.value_or(top), options.depth);
}

// The call tree, a line for each frame, indented by its depth.
class TreeText {
 public:
  TreeText(SnapshotView& view, const ShowOptions& options, const TextStyle& style)
      : view_(view),
        tree_(view),
        style_(style),
        top_(options.top.value_or(kTopOfTree)),
        depth_(options.depth.value_or(kDepthOfTree)) {}

  std::string Text() {
    std::string text =
        "\n" + Paint("Call tree", Emphasis::kHeading, style_.colour) + "\n" +
        Paint(fmt::format("  {:>10} {:>14} {:>6} {:>10}", "SIZE", "BYTES", "%", "BLOCKS"),
              Emphasis::kInTheDistance, style_.colour) +
        "\n";
    AddChildren(CallTree::kRoot, 0, text);
    return text;
  }

 private:
  void AddChildren(CallTree::NodeId node, std::size_t level, std::string& text) {
    const std::vector<CallTree::NodeId>& children = tree_.Get(node).children;
    if (level == depth_) {
      if (!children.empty()) AddLine(tree_.Get(node).amount, level, "... deeper: --depth", text);
      return;
    }
    Amount rest;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const CallTree::Node& child = tree_.Get(children[i]);
      if (i >= top_) {
        rest += child.amount;
        continue;
      }
      AddLine(child.amount, level, Label(child), text);
      AddChildren(children[i], level + 1, text);
    }
    if (children.size() > top_) {
      AddLine(rest, level, fmt::format("... {} more: --top", children.size() - top_), text);
    }
  }

  std::string Label(const CallTree::Node& node) const {
    if (node.is_not_taken) return "(stack not taken: --stacks)";
    if (!node.frame) return "(no code of the program's own)";
    const Frame& frame = view_.frames().Get(*node.frame);
    const std::string place = RelativePath(PlaceOfFrame(frame), style_.base_directory);
    const std::string name = Printable(NameOfFrame(frame));
    return Paint(name, Emphasis::kOwnFrame, node.children.empty() ? style_.colour : Colour::kOff) +
           (place.empty() ? "" : "  " + Printable(place));
  }

  void AddLine(Amount amount, std::size_t level, const std::string& label, std::string& text) {
    text += AmountColumns(amount, view_.tally().total().bytes) + "  " +
            std::string(2 * level, ' ') + label + "\n";
  }

  SnapshotView& view_;
  CallTree tree_;
  const TextStyle& style_;
  std::size_t top_;
  std::size_t depth_;
};

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

Json GroupJson(SnapshotView& view, GroupBy by, const SnapshotGroup& group,
               std::optional<std::size_t> depth) {
  Json json = {
      {"name", group.name}, {"bytes", group.amount.bytes}, {"blocks", group.amount.blocks}};
  if (!group.place.empty()) json["place"] = group.place;
  if (!HasStacks(by)) return json;
  if (HasWindows(by)) {
    json["first_window"] = NameOfWindow(view.contents(), group.first_window);
    json["last_window"] = NameOfWindow(view.contents(), group.last_window);
  }
  json["stack_end"] = Word(view.frames().EndOf(group.stack));
  Json stack = Json::array();
  for (const FrameId id : view.frames().FramesOf(group.stack)) {
    if (depth && stack.size() >= *depth) break;
    const Frame& frame = view.frames().Get(id);
    stack.push_back({{"function", frame.function},
                     {"file", frame.file},
                     {"line", frame.line},
                     {"module", frame.module},
                     {"offset", fmt::format("{:#x}", frame.module_offset)},
                     {"inlined", frame.inlined},
                     {"users", view.frames().IsUsers(id)}});
  }
  json["stack"] = std::move(stack);
  return json;
}

Json TableJson(SnapshotView& view, GroupBy by, const ShowOptions& options) {
  const std::vector<SnapshotGroup> groups = view.Groups(by);
  const std::size_t shown = std::min(options.top.value_or(groups.size()), groups.size());
  Json rows = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(GroupJson(view, by, groups[i], options.depth));
  }
  return {{"by", Word(by)}, {"groups", groups.size()}, {"rows", std::move(rows)}};
}

Json TreeJson(SnapshotView& view, const CallTree& tree, CallTree::NodeId id, std::size_t depth) {
  const CallTree::Node& node = tree.Get(id);
  Json json = {{"bytes", node.amount.bytes}, {"blocks", node.amount.blocks}};
  if (node.is_not_taken) json["name"] = "stack not taken";
  if (node.frame) {
    const Frame& frame = view.frames().Get(*node.frame);
    json["name"] = NameOfFrame(frame);
    json["place"] = PlaceOfFrame(frame);
  }
  Json children = Json::array();
  if (depth > 0) {
    for (const CallTree::NodeId child : node.children) {
      children.push_back(TreeJson(view, tree, child, depth - 1));
    }
  }
  json["children"] = std::move(children);
  return json;
}

}  // namespace

std::optional<GroupBy> ParseGroupBy(std::string_view word) {
  const auto found = std::find_if(kGroupWords.begin(), kGroupWords.end(),
                                  [&](const GroupWords& it) { return it.word == word; });
  if (found == kGroupWords.end()) return std::nullopt;
  return found->by;
}

std::string_view Word(GroupBy by) { return WordsOf(by).word; }

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
    text = TreeText(view, options, style).Text();
  } else if (options.group_by) {
    text = GroupTable(view, *options.group_by, style)
               .Text(options.top.value_or(kTopOfOneTable), options.depth);
  } else {
    text = OverviewText(view, options, style);
  }
  text += FreedByText(view, options, style);
  return SnapshotHeading(view, style) + text + SymbolProblems(view, style);
}

nlohmann::ordered_json ShowJson(SnapshotView& view, const ShowOptions& options) {
  Json json = {{"schema", "leakgate-snapshot-view-1"}, {"snapshot", SnapshotFactsJson(view)}};
  json["shown"] = {{"bytes", view.tally().total().bytes}, {"blocks", view.tally().total().blocks}};
  if (options.layout == SnapshotLayout::kTree) {
    const CallTree tree(view);
    json["tree"] = TreeJson(view, tree, CallTree::kRoot, options.depth.value_or(kMaxStackDepth));
  } else {
    Json tables = Json::array();
    if (options.group_by) {
      tables.push_back(TableJson(view, *options.group_by, options));
    } else {
      for (const GroupWords& words : kGroupWords) {
        const bool is_left_out = words.by == GroupBy::kStack ||
                                 (words.by == GroupBy::kComponent && !view.HasComponents()) ||
                                 (words.by == GroupBy::kFreedBy && view.contents().frees.empty());
        if (!is_left_out) tables.push_back(TableJson(view, words.by, options));
      }
    }
    json["tables"] = std::move(tables);
  }
  Json problems = Json::array();
  for (const auto& [id, problem] : view.frames().problems()) {
    problems.push_back(
        {{"module", view.contents().modules.at(id).module.path}, {"problem", problem}});
  }
  json["modules_without_symbols"] = std::move(problems);
  return json;
}

}  // namespace leakgate
