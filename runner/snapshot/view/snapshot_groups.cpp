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

Groups ByStacks(SnapshotView& view, GroupBy by) {
  StackGroups<Amount> groups(view.stacks(), by);
  ForEachStack(view.tally(), [&](std::uint32_t stack, const StackTally& tally) {
    groups.Add(stack, tally.amount(), tally.bytes, {tally.first_window, tally.last_window});
  });
  return groups.Take();
}

Groups ByFreeingSite(SnapshotView& view) {
  StackGroups<Amount> groups(view.stacks(), GroupBy::kFreedBy);
  for (const SnapshotFrees& frees : view.contents().frees) {
    if (!view.Matches(frees.stack)) continue;
    const Amount amount = AmountOf(frees.bytes, frees.blocks);
    groups.Add(frees.stack, amount, amount.bytes);
  }
  return groups.Take();
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
                      .sums = amount});
  });
  return groups;
}

// Returns when a block was allocated, as its window shows: if the window has ended, at least so
// long ago; otherwise at most as long ago as the window began.
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
          {.name = std::move(age.name), .place = std::move(age.place), .sums = age.amount});
    }
    return ages;
  }
  std::map<std::string, Amount> amounts;
  ForEachWindow(view.tally(), [&](std::uint32_t window, Amount amount) {
    amounts[AgeText(view.contents(), window)] += amount;
  });
  Groups groups;
  for (const auto& [text, amount] : amounts) groups.push_back({.name = text, .sums = amount});
  return groups;
}

std::vector<SnapshotGroup> UnsortedGroups(SnapshotView& view, GroupBy by) {
  const SnapshotTally& tally = view.tally();
  switch (by) {
    case GroupBy::kSite:
    case GroupBy::kStack:
    case GroupBy::kModule:
    case GroupBy::kComponent:
      return ByStacks(view, by);
    case GroupBy::kThread:
      return GroupsByIndex(tally.by_thread(), [&](std::size_t thread) {
        return NameOfThread(view.contents(), static_cast<std::uint32_t>(thread));
      });
    case GroupBy::kWindow:
      return ByWindow(view);
    case GroupBy::kAge:
      return ByAge(view);
    case GroupBy::kKind:
      return GroupsByIndex(tally.by_kind(), NameOfKind);
    case GroupBy::kSize:
      return GroupsByIndex(tally.by_size(), SizeClassText);
    case GroupBy::kFreedBy:
      return ByFreeingSite(view);
    case GroupBy::kLifetime:
    case GroupBy::kCommit:
      break;
  }
  return {};
}

}  // namespace

std::string NameOfKind(std::size_t kind) { return Word(static_cast<AllocationKind>(kind)); }

std::string WindowsText(const SnapshotContents& contents, WindowRange windows) {
  const std::string earliest = NameOfWindow(contents, windows.first);
  if (windows.first == windows.last) return "in " + earliest;
  return fmt::format("in several windows, from {} to {}", earliest,
                     NameOfWindow(contents, windows.last));
}

std::string SizeClassText(std::size_t size_class) {
  if (size_class == 0) return "0 to 1 B";
  const std::int64_t most = std::int64_t{1} << std::min<std::size_t>(size_class, 62);
  return fmt::format("{} to {}", FormatBytes(most / 2 + 1), FormatBytes(most));
}

std::vector<SnapshotGroup> GroupsOf(SnapshotView& view, GroupBy by) {
  return Sorted(UnsortedGroups(view, by),
                [](Amount amount) { return std::tuple(~amount.bytes, ~amount.blocks); });
}

}  // namespace leakgate
