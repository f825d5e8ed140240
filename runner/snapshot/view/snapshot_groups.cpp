#include "runner/snapshot/view/snapshot_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "runner/region/amount.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

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

}  // namespace

std::string_view Word(GroupBy by) { return WordsOf(by).word; }

std::string_view TitleOf(GroupBy by) { return WordsOf(by).title; }

std::vector<GroupBy> AllGroupings() {
  std::vector<GroupBy> all;
  for (const GroupWords& words : kGroupWords) all.push_back(words.by);
  return all;
}

namespace {

std::chrono::nanoseconds Since(const SnapshotContents& contents, std::uint64_t time_ns) {
  const std::uint64_t taken = contents.facts.taken_ns;
  return std::chrono::nanoseconds(taken > time_ns ? taken - time_ns : 0);
}

}  // namespace

std::string WhenText(const SnapshotContents& contents, std::uint32_t id) {
  const auto window = contents.windows.find(id);
  if (window == contents.windows.end()) return "";
  const std::string began = FormatDuration(Since(contents, window->second.begin_ns));
  if (window->second.end_ns == 0) return fmt::format("began {} before, still open", began);
  return fmt::format("{} to {} before", began,
                     FormatDuration(Since(contents, window->second.end_ns)));
}

namespace {

using Groups = std::vector<SnapshotGroup>;

// Calls `use(stack, tally)` for each stack that has blocks.
template <typename Use>
void ForEachStack(const SnapshotTally& tally, Use use) {
  const std::vector<StackTally>& stacks = tally.by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks != 0) use(stack, stacks[stack]);
  }
}

// Adds up stacks that are in the same group.
class StackGroups {
 public:
  StackGroups(SnapshotView& view, StackGroupBy by) : grouping_(view.stacks(), by) {}

  void Add(std::uint32_t stack, const StackTally& tally) {
    const std::size_t index = grouping_.GroupOf(stack);
    if (index == groups_.size()) {
      groups_.push_back({.first_window = tally.first_window});
      most_.push_back(-1);
    }
    SnapshotGroup& group = groups_[index];
    group.amount += tally.amount();
    group.first_window = std::min(group.first_window, tally.first_window);
    group.last_window = std::max(group.last_window, tally.last_window);
    if (tally.bytes <= most_[index]) return;
    most_[index] = tally.bytes;
    group.stack = stack;
  }

  Groups Take() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].name = grouping_.groups()[i].name;
      groups_[i].place = grouping_.groups()[i].place;
    }
    return std::move(groups_);
  }

 private:
  StackGrouping grouping_;
  Groups groups_;
  std::vector<std::int64_t> most_;  // the bytes of the group's largest stack
};

Groups ByStacks(SnapshotView& view, StackGroupBy by) {
  StackGroups groups(view, by);
  ForEachStack(view.tally(),
               [&](std::uint32_t stack, const StackTally& tally) { groups.Add(stack, tally); });
  return groups.Take();
}

Groups ByFreeingSite(SnapshotView& view) {
  StackGroups groups(view, StackGroupBy::kSite);
  for (const SnapshotFrees& frees : view.contents().frees) {
    if (!view.Matches(frees.stack)) continue;
    groups.Add(frees.stack, {.bytes = static_cast<std::int64_t>(frees.bytes),
                             .blocks = static_cast<std::int64_t>(frees.blocks),
                             .first_window = 0});
  }
  return groups.Take();
}

Groups ByThread(SnapshotView& view) {
  Groups groups;
  const std::vector<Amount>& threads = view.tally().by_thread();
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    if (threads[thread].blocks == 0) continue;
    groups.push_back({.name = NameOfThread(view.contents(), thread), .amount = threads[thread]});
  }
  return groups;
}

template <typename Add>
void ForEachWindow(const SnapshotTally& tally, Add add) {
  const std::vector<Amount>& windows = tally.by_window();
  for (std::uint32_t window = 0; window < windows.size(); ++window) {
    if (windows[window].blocks != 0) add(window, windows[window]);
  }
}

Groups ByWindow(SnapshotView& view) {
  Groups groups;
  ForEachWindow(view.tally(), [&](std::uint32_t window, Amount amount) {
    groups.push_back({.name = NameOfWindow(view.contents(), window),
                      .place = WhenText(view.contents(), window),
                      .amount = amount,
                      .first_window = window,
                      .last_window = window});
  });
  return groups;
}

// Tells by its window when a block was allocated: if the window has ended, at least so long ago;
// else at most as long ago as the window began.
std::string AgeText(const SnapshotContents& contents, std::uint32_t id) {
  const auto found = contents.windows.find(id);
  if (found == contents.windows.end()) return "not known";
  const SnapshotWindow& window = found->second;
  if (window.end_ns == 0) {
    return fmt::format("at most {}: in {}, still open",
                       FormatDuration(Since(contents, window.begin_ns)),
                       NameOfWindow(contents, id));
  }
  struct Step {
    std::chrono::seconds least;
    const char* text;
  };
  using std::chrono::seconds;
  constexpr std::array kSteps = {
      Step{seconds(24 * 3600), "at least 1 day"}, Step{seconds(3600), "at least 1 hour"},
      Step{seconds(600), "at least 10 min"},      Step{seconds(60), "at least 1 min"},
      Step{seconds(10), "at least 10 s"},         Step{seconds(1), "at least 1 s"}};
  const std::chrono::nanoseconds ended = Since(contents, window.end_ns);
  for (const Step& step : kSteps) {
    if (ended >= step.least) return step.text;
  }
  return "of a test or suite that ended less than 1 s before";
}

Groups ByAge(SnapshotView& view) {
  if (view.ages() != nullptr) {
    Groups ages;
    for (SnapshotAges::Age& age : view.ages()->Ages()) {
      ages.push_back(
          {.name = std::move(age.name), .place = std::move(age.place), .amount = age.amount});
    }
    return ages;
  }
  std::map<std::string, Amount> amounts;
  ForEachWindow(view.tally(), [&](std::uint32_t window, Amount amount) {
    amounts[AgeText(view.contents(), window)] += amount;
  });
  Groups groups;
  for (const auto& [text, amount] : amounts) groups.push_back({.name = text, .amount = amount});
  return groups;
}

Groups ByKind(SnapshotView& view) {
  Groups groups;
  const auto& kinds = view.tally().by_kind();
  for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
    if (kinds[kind].blocks == 0) continue;
    groups.push_back({.name = Word(static_cast<AllocationKind>(kind)), .amount = kinds[kind]});
  }
  return groups;
}

Groups BySize(SnapshotView& view) {
  Groups groups;
  const auto& sizes = view.tally().by_size();
  for (std::size_t size_class = 0; size_class < sizes.size(); ++size_class) {
    if (sizes[size_class].blocks == 0) continue;
    groups.push_back({.name = SizeClassText(size_class), .amount = sizes[size_class]});
  }
  return groups;
}

std::vector<SnapshotGroup> UnsortedGroups(SnapshotView& view, GroupBy by) {
  switch (by) {
    case GroupBy::kSite:
      return ByStacks(view, StackGroupBy::kSite);
    case GroupBy::kStack:
      return ByStacks(view, StackGroupBy::kStack);
    case GroupBy::kModule:
      return ByStacks(view, StackGroupBy::kModule);
    case GroupBy::kComponent:
      return ByStacks(view, StackGroupBy::kComponent);
    case GroupBy::kThread:
      return ByThread(view);
    case GroupBy::kWindow:
      return ByWindow(view);
    case GroupBy::kAge:
      return ByAge(view);
    case GroupBy::kKind:
      return ByKind(view);
    case GroupBy::kSize:
      return BySize(view);
    case GroupBy::kFreedBy:
      return ByFreeingSite(view);
  }
  return {};
}

}  // namespace

std::string WindowsText(const SnapshotContents& contents, std::uint32_t first, std::uint32_t last) {
  const std::string earliest = NameOfWindow(contents, first);
  if (first == last) return "in " + earliest;
  return fmt::format("in several windows, from {} to {}", earliest, NameOfWindow(contents, last));
}

std::string SizeClassText(std::size_t size_class) {
  if (size_class == 0) return "0 to 1 B";
  const std::int64_t most = std::int64_t{1} << std::min<std::size_t>(size_class, 62);
  return fmt::format("{} to {}", FormatBytes(most / 2 + 1), FormatBytes(most));
}

std::vector<SnapshotGroup> GroupsOf(SnapshotView& view, GroupBy by) {
  std::vector<SnapshotGroup> groups = UnsortedGroups(view, by);
  std::sort(groups.begin(), groups.end(), [](const SnapshotGroup& a, const SnapshotGroup& b) {
    if (a.amount.bytes != b.amount.bytes) return a.amount.bytes > b.amount.bytes;
    if (a.amount.blocks != b.amount.blocks) return a.amount.blocks > b.amount.blocks;
    return std::tie(a.name, a.place, a.stack) < std::tie(b.name, b.place, b.stack);
  });
  return groups;
}

}  // namespace leakgate
