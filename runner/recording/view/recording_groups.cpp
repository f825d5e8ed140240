#include "runner/recording/view/recording_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "runner/region/region_words.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using By = GroupBy;
using Groups = std::vector<RecordingGroup>;

// `weigh` decides which stack of a group is the largest.
class RecordedStackGroups {
 public:
  RecordedStackGroups(RecordingView& view, By by, Weigh weigh)
      : groups_(view.stacks(), by), weigh_(weigh) {}

  std::size_t Add(std::uint32_t stack, const RecordedCounts& counts) {
    return groups_.Add(stack, counts, SumOf(counts, weigh_).amount().bytes,
                       {counts.first_window, counts.last_window});
  }
  Groups Take() { return groups_.Take(); }

 private:
  StackGroups<RecordedCounts> groups_;
  Weigh weigh_;
};

Groups ByStacks(RecordingView& view, By by, Weigh weigh) {
  const EventTally& tally = view.tally();
  RecordedStackGroups groups(view, by, weigh);
  std::vector<std::uint32_t> group_of(tally.stacks().size(), UINT32_MAX);
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    if (tally.by_stack()[i].IsEmpty()) continue;
    group_of[i] = static_cast<std::uint32_t>(groups.Add(tally.stacks()[i], tally.by_stack()[i]));
  }
  Groups all = groups.Take();
  std::vector<LifetimeCounts> lifetimes(all.size());
  tally.lifetimes().AddTo(group_of, lifetimes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The middle of a class may be above the longest lifetime in it.
    all[i].median_ns = std::min(MedianOf(lifetimes[i]), all[i].sums.longest_ns);
  }
  return all;
}

Groups ByFreeingSite(RecordingView& view) {
  RecordedStackGroups groups(view, By::kSite, Weigh::kTotal);
  for (const auto& [stack, sum] : view.tally().freed_by()) {
    RecordedCounts counts;
    counts.total = sum;
    groups.Add(stack, counts);
  }
  return groups.Take();
}

Groups ByCommit(RecordingView& view, Weigh weigh) {
  RecordedStackGroups groups(view, By::kSite, weigh);
  for (const auto& [stack, commits] : view.tally().commits().by_stack()) {
    RecordedCounts counts;
    counts.total = commits.total;
    counts.inside_freed = commits.total - commits.outstanding;
    counts.live = commits.live;
    counts.longest_ns = commits.longest_ns;
    if (!counts.IsEmpty()) groups.Add(stack, counts);
  }
  return groups.Take();
}

Groups ByWindow(RecordingView& view) {
  const EventTally& tally = view.tally();
  const std::vector<EventTally::Highest>& highest = tally.highest_by_window();
  Groups groups;
  for (std::size_t i = 0; i < tally.by_window().size(); ++i) {
    if (tally.by_window()[i].IsEmpty()) continue;
    RecordingGroup& group = groups.emplace_back();
    group.name = NameOfWindow(view.contents(), static_cast<std::uint32_t>(i));
    group.sums = tally.by_window()[i];
    if (i >= highest.size() || highest[i].bytes == 0) continue;
    group.place = fmt::format("at most {} live in it, at {}",
                              FormatBytes(static_cast<std::int64_t>(highest[i].bytes)),
                              MomentText(highest[i].time_ns));
  }
  return groups;
}

Groups ByLifetime(RecordingView& view) {
  const auto& decades = view.tally().decades().all();
  Groups groups;
  std::uint64_t limit = 1000;
  for (std::size_t i = 0; i < decades.size(); ++i, limit *= 10) {
    if (decades[i].blocks == 0) continue;
    RecordingGroup& group = groups.emplace_back();
    const bool is_last = i + 1 == decades.size();
    group.name = i == 0    ? "below 1 us"
                 : is_last ? fmt::format("{} and more", LifetimeText(limit / 10))
                           : fmt::format("{} to {}", LifetimeText(limit / 10), LifetimeText(limit));
    group.sums.total = decades[i];
  }
  return groups;
}

Groups Unsorted(RecordingView& view, By by, Weigh weigh) {
  const EventTally& tally = view.tally();
  switch (by) {
    case By::kSite:
    case By::kStack:
    case By::kModule:
    case By::kComponent:
      return ByStacks(view, by, weigh);
    case By::kThread:
      return GroupsByIndex(tally.by_thread(), [&](std::size_t id) {
        return NameOfThread(view.contents(), static_cast<std::uint32_t>(id));
      });
    case By::kWindow:
      return ByWindow(view);
    case By::kKind:
      return GroupsByIndex(tally.by_kind(), NameOfKind);
    case By::kSize:
      return GroupsByIndex(tally.by_size(), SizeClassText);
    case By::kLifetime:
      return ByLifetime(view);
    case By::kFreedBy:
      return ByFreeingSite(view);
    case By::kCommit:
      return ByCommit(view, weigh);
    case By::kAge:
      break;
  }
  return {};
}

}  // namespace

RecordedSum SumOf(const RecordedCounts& counts, Weigh weigh) {
  switch (weigh) {
    case Weigh::kPeak:
      return counts.at_peak;
    case Weigh::kOutstanding:
      return counts.Outstanding();
    case Weigh::kTotal:
      return counts.total;
    case Weigh::kTemporary:
      return counts.temporary;
  }
  return {};
}

Groups GroupsOf(RecordingView& view, By by, Weigh weigh) {
  if (!HasAllCounts(by) && (by != By::kCommit || weigh != Weigh::kOutstanding)) {
    weigh = Weigh::kTotal;
  }
  Groups groups = Unsorted(view, by, weigh);
  if (by == By::kLifetime) return groups;
  return Sorted(std::move(groups), [&](const RecordedCounts& counts) {
    RecordedSum sum = SumOf(counts, weigh);
    // Temporary blocks are many, and small.
    if (weigh == Weigh::kTemporary) std::swap(sum.bytes, sum.blocks);
    const RecordedSum& total = counts.total;
    return std::tuple(~sum.bytes, ~sum.blocks, ~total.bytes, ~total.blocks);
  });
}

std::vector<StackAmount> AmountsByStack(const EventTally& tally, Weigh weigh) {
  std::vector<StackAmount> amounts;
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    const RecordedSum sum = SumOf(tally.by_stack()[i], weigh);
    if (sum.blocks != 0) amounts.emplace_back(tally.stacks()[i], sum.amount());
  }
  std::sort(amounts.begin(), amounts.end(),
            [](const StackAmount& a, const StackAmount& b) { return a.first < b.first; });
  return amounts;
}

std::string LifetimeText(std::uint64_t ns) {
  const auto number = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 999'500) return fmt::format("{:.3g} us", number / 1e3);
  if (ns < 999'500'000) return fmt::format("{:.3g} ms", number / 1e6);
  if (ns < 60'000'000'000) return fmt::format("{:.3g} s", number / 1e9);
  return FormatDuration(std::chrono::nanoseconds(ns));
}

std::string MomentText(std::uint64_t ns) {
  return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
}

}  // namespace leakgate
