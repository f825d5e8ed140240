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

// Adds up mappings that have the same key; `name` names their group by its first mapping.
template <typename Key, typename Name>
std::vector<MappedGroup> MappedBy(SnapshotView& view, const Key& key, const Name& name) {
  std::vector<MappedGroup> groups;
  std::map<std::uint64_t, std::size_t> known;
  for (const SnapshotMapping& mapping : view.contents().mappings) {
    if (!view.Matches(mapping.stack)) continue;
    const auto [at, is_new] = known.try_emplace(key(mapping), groups.size());
    if (is_new) name(groups.emplace_back(), mapping);
    groups[at->second].sums += MappedAmountOf(mapping);
  }
  return groups;
}

std::vector<MappedGroup> MappedByStacks(SnapshotView& view, GroupBy by) {
  StackGroups<MappedAmount> groups(view.stacks(), by);
  for (const SnapshotMapping& mapping : view.contents().mappings) {
    if (!view.Matches(mapping.stack)) continue;
    groups.Add(mapping.stack, MappedAmountOf(mapping), static_cast<std::int64_t>(mapping.bytes),
               {mapping.window, mapping.window});
  }
  return groups.Take();
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
  using Mapping = const SnapshotMapping&;
  std::string age;
  switch (by) {
    case GroupBy::kSite:
    case GroupBy::kStack:
    case GroupBy::kModule:
    case GroupBy::kComponent:
      return MappedByStacks(view, by);
    case GroupBy::kThread:
      return MappedBy(
          view, [](Mapping it) { return it.thread; },
          [&](MappedGroup& group, Mapping it) { group.name = NameOfThread(contents, it.thread); });
    case GroupBy::kWindow:
      return MappedBy(
          view, [](Mapping it) { return it.window; },
          [&](MappedGroup& group, Mapping it) {
            group.name = NameOfWindow(contents, it.window);
            group.place = WhenText(contents, it.window);
          });
    case GroupBy::kAge:
      return MappedBy(
          view, [&](Mapping it) { return AgeClassOf(contents, it, age); },
          [&](MappedGroup& group, Mapping) { group.name = age; });
    case GroupBy::kKind:
      return MappedBy(
          view, [](Mapping it) { return static_cast<std::uint64_t>(it.kind); },
          [](MappedGroup& group, Mapping it) { group.name = Word(it.kind); });
    case GroupBy::kSize:
      return MappedBy(
          view, [](Mapping it) { return SizeClassOf(it.bytes); },
          [](MappedGroup& group, Mapping it) {
            group.name = SizeClassText(SizeClassOf(it.bytes));
          });
    case GroupBy::kLifetime:
    case GroupBy::kFreedBy:
    case GroupBy::kCommit:
      break;
  }
  return {};
}

}  // namespace

std::vector<MappedGroup> MappedGroupsOf(SnapshotView& view, GroupBy by) {
  return Sorted(UnsortedMapped(view, by), [](const MappedAmount& it) {
    return std::tuple(~it.committed_bytes, ~it.reserved_bytes, ~it.mappings);
  });
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
