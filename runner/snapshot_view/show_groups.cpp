#include "runner/snapshot_view/show_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/report/finding_text.h"
#include "runner/snapshot_view/amount_columns.h"
#include "runner/snapshot_view/group_words.h"

namespace leakgate {
namespace {

// What shares are of: what is live, or what has been freed.
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

// "in HttpTest.KeepAlive", "in 2 windows or more, from A to B".
std::string WindowsText(const SnapshotContents& contents, const SnapshotGroup& group) {
  const std::string first = NameOfWindow(contents, group.first_window);
  if (group.first_window == group.last_window) return "in " + first;
  return fmt::format("in several windows, from {} to {}", first,
                     NameOfWindow(contents, group.last_window));
}

// Written line by line.
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

}  // namespace

std::string GroupsText(SnapshotView& view, GroupBy by, std::size_t top,
                       std::optional<std::size_t> depth, const TextStyle& style) {
  return GroupTable(view, by, style).Text(top, depth);
}

}  // namespace leakgate
