#include "runner/snapshot/view/mapped_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <tuple>

#include "runner/region/amount.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/counts_by_number.h"

namespace leakgate {

MappedAmount& operator+=(MappedAmount& a, const MappedAmount& b) {
  a.mappings += b.mappings;
  a.committed_bytes = AddSaturating(a.committed_bytes, b.committed_bytes);
  a.reserved_bytes = AddSaturating(a.reserved_bytes, b.reserved_bytes);
  a.resident_bytes = AddSaturating(a.resident_bytes, b.resident_bytes);
  a.swapped_bytes = AddSaturating(a.swapped_bytes, b.swapped_bytes);
  a.lazily_freed_bytes = AddSaturating(a.lazily_freed_bytes, b.lazily_freed_bytes);
  a.unknown_bytes = AddSaturating(a.unknown_bytes, b.unknown_bytes);
  return a;
}

MappedAmount MappedAmountOf(const SnapshotMapping& mapping) {
  MappedAmount amount{.mappings = 1};
  const auto bytes = static_cast<std::int64_t>(mapping.bytes);
  (mapping.protection == 0 ? amount.reserved_bytes : amount.committed_bytes) = bytes;
  if (!mapping.pages.are_known) {
    amount.unknown_bytes = bytes;
    return amount;
  }
  amount.resident_bytes = static_cast<std::int64_t>(mapping.pages.resident_bytes);
  amount.swapped_bytes = static_cast<std::int64_t>(mapping.pages.swapped_bytes);
  amount.lazily_freed_bytes = static_cast<std::int64_t>(mapping.pages.lazily_freed_bytes);
  return amount;
}

MappedAmount MappedIn(const SnapshotContents& contents) {
  MappedAmount all;
  for (const SnapshotMapping& mapping : contents.mappings) all += MappedAmountOf(mapping);
  return all;
}

MappedAmount ShownMapped(SnapshotView& view) {
  MappedAmount all;
  for (const SnapshotMapping& mapping : view.contents().mappings) {
    if (view.Matches(mapping.stack)) all += MappedAmountOf(mapping);
  }
  return all;
}

namespace {

// Adds up mappings that have the same key, in the order in which keys come first.
class MappedGroups {
 public:
  explicit MappedGroups(SnapshotView& view) : view_(view) {}

  // `key(mapping)` numbers the groups; `name(group, mapping)` names one, given its first mapping.
  template <typename Key, typename Name>
  std::vector<MappedGroup> By(Key key, Name name) {
    std::map<std::uint64_t, std::size_t> known;
    for (const SnapshotMapping& mapping : view_.contents().mappings) {
      if (!view_.Matches(mapping.stack)) continue;
      const auto [at, is_new] = known.try_emplace(key(mapping), groups_.size());
      if (is_new) {
        SnapshotGroup group{.first_window = mapping.window, .last_window = mapping.window};
        name(group, mapping);
        groups_.push_back({std::move(group), {}});
        most_.push_back(-1);
      }
      Add(at->second, mapping);
    }
    return std::move(groups_);
  }

 private:
  void Add(std::size_t index, const SnapshotMapping& mapping) {
    MappedGroup& it = groups_[index];
    it.mapped += MappedAmountOf(mapping);
    it.group.first_window = std::min(it.group.first_window, mapping.window);
    it.group.last_window = std::max(it.group.last_window, mapping.window);
    const auto bytes = static_cast<std::int64_t>(mapping.bytes);
    if (bytes <= most_[index]) return;
    most_[index] = bytes;
    it.group.stack = mapping.stack;
  }

  SnapshotView& view_;
  std::vector<MappedGroup> groups_;
  std::vector<std::int64_t> most_;  // the bytes of the group's largest mapping
};

std::vector<MappedGroup> MappedByStacks(SnapshotView& view, StackGroupBy by) {
  StackGrouping grouping(view.stacks(), by);
  return MappedGroups(view).By(
      [&](const SnapshotMapping& mapping) { return grouping.GroupOf(mapping.stack); },
      [&](SnapshotGroup& group, const SnapshotMapping& mapping) {
        const StackGrouping::Group& it = grouping.groups()[grouping.GroupOf(mapping.stack)];
        group.name = it.name;
        group.place = it.place;
      });
}

// The time of the call is known, so ages are exact.
std::size_t AgeClassOf(const SnapshotContents& contents, const SnapshotMapping& mapping,
                       std::string& name) {
  struct Step {
    std::chrono::seconds least;
    const char* text;
  };
  using std::chrono::seconds;
  constexpr std::array kSteps = {
      Step{seconds(24 * 3600), "at least 1 day"}, Step{seconds(3600), "1 hour to 1 day"},
      Step{seconds(600), "10 min to 1 hour"},     Step{seconds(60), "1 min to 10 min"},
      Step{seconds(10), "10 s to 1 min"},         Step{seconds(1), "1 s to 10 s"},
      Step{seconds(0), "less than 1 s"}};
  if (mapping.mapped_ns == 0) {
    name = "not known";
    return kSteps.size();
  }
  const std::uint64_t now = contents.facts.taken_ns;
  const std::chrono::nanoseconds age(now > mapping.mapped_ns ? now - mapping.mapped_ns : 0);
  const auto step =
      std::find_if(kSteps.begin(), kSteps.end(), [&](const Step& it) { return age >= it.least; });
  name = step->text;
  return static_cast<std::size_t>(step - kSteps.begin());
}

std::vector<MappedGroup> UnsortedMapped(SnapshotView& view, GroupBy by) {
  const SnapshotContents& contents = view.contents();
  MappedGroups groups(view);
  switch (by) {
    case GroupBy::kSite:
      return MappedByStacks(view, StackGroupBy::kSite);
    case GroupBy::kStack:
      return MappedByStacks(view, StackGroupBy::kStack);
    case GroupBy::kModule:
      return MappedByStacks(view, StackGroupBy::kModule);
    case GroupBy::kComponent:
      return MappedByStacks(view, StackGroupBy::kComponent);
    case GroupBy::kThread:
      return groups.By([](const SnapshotMapping& it) { return it.thread; },
                       [&](SnapshotGroup& group, const SnapshotMapping& it) {
                         group.name = NameOfThread(contents, it.thread);
                       });
    case GroupBy::kWindow:
      return groups.By([](const SnapshotMapping& it) { return it.window; },
                       [&](SnapshotGroup& group, const SnapshotMapping& it) {
                         group.name = NameOfWindow(contents, it.window);
                         group.place = WhenText(contents, it.window);
                       });
    case GroupBy::kAge: {
      std::string name;
      return groups.By([&](const SnapshotMapping& it) { return AgeClassOf(contents, it, name); },
                       [&](SnapshotGroup& group, const SnapshotMapping&) { group.name = name; });
    }
    case GroupBy::kKind:
      return groups.By(
          [](const SnapshotMapping& it) { return static_cast<std::uint64_t>(it.kind); },
          [](SnapshotGroup& group, const SnapshotMapping& it) { group.name = Word(it.kind); });
    case GroupBy::kSize:
      return groups.By([](const SnapshotMapping& it) { return SizeClassOf(it.bytes); },
                       [](SnapshotGroup& group, const SnapshotMapping& it) {
                         group.name = SizeClassText(SizeClassOf(it.bytes));
                       });
    case GroupBy::kFreedBy:
      break;
  }
  return {};
}

}  // namespace

std::vector<MappedGroup> MappedGroupsOf(SnapshotView& view, GroupBy by) {
  std::vector<MappedGroup> groups = UnsortedMapped(view, by);
  for (MappedGroup& it : groups) {
    it.group.amount = {it.mapped.committed_bytes, it.mapped.mappings};
  }
  std::sort(groups.begin(), groups.end(), [](const MappedGroup& a, const MappedGroup& b) {
    const auto key = [](const MappedGroup& it) {
      return std::tuple(-it.mapped.committed_bytes, -it.mapped.reserved_bytes, -it.mapped.mappings);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    return std::tie(a.group.name, a.group.place, a.group.stack) <
           std::tie(b.group.name, b.group.place, b.group.stack);
  });
  return groups;
}

std::vector<StackAmount> MappedByStack(SnapshotView& view) {
  std::map<std::uint32_t, Amount> amounts;
  for (const SnapshotMapping& mapping : view.contents().mappings) {
    if (!view.Matches(mapping.stack)) continue;
    const std::int64_t bytes =
        mapping.protection == 0 ? 0 : static_cast<std::int64_t>(mapping.bytes);
    amounts[mapping.stack] += Amount{bytes, 1};
  }
  return {amounts.begin(), amounts.end()};
}

std::string PagesProblem(const SnapshotPages& pages) {
  if (!pages.problem.empty()) return pages.problem;
  if (pages.source != PageSource::kNone) return "";
  return "an earlier leakgate took the snapshot";
}

std::string ResidentText(const SnapshotContents& contents) {
  if (contents.mappings.empty()) return "";
  if (const std::string problem = PagesProblem(contents.pages); !problem.empty()) {
    return "not known: " + problem;
  }
  const MappedAmount all = MappedIn(contents);
  std::string text = FormatBytes(all.resident_bytes) + " of what is mapped";
  if (all.swapped_bytes != 0) {
    text += fmt::format(", and {} swapped out", FormatBytes(all.swapped_bytes));
  }
  const std::int64_t lazily_freed =
      AddSaturating(all.lazily_freed_bytes,
                    static_cast<std::int64_t>(contents.pages.unassigned_lazily_freed_bytes));
  if (lazily_freed != 0) {
    text +=
        fmt::format("; the kernel may take {} of that back (MADV_FREE)", FormatBytes(lazily_freed));
  }
  if (all.unknown_bytes != 0) {
    text += fmt::format("; not known of {}", FormatBytes(all.unknown_bytes));
  }
  return text;
}

}  // namespace leakgate
