#include "runner/snapshot/view/snapshot_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <tuple>

#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/result/words.h"
#include "runner/symbols/name_text.h"

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

using Groups = std::vector<SnapshotGroup>;

// Calls `use(stack, tally)` for each stack that has blocks.
template <typename Use>
void ForEachStack(const SnapshotTally& tally, Use use) {
  const std::vector<StackTally>& stacks = tally.by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks != 0) use(stack, stacks[stack]);
  }
}

// Groups of stacks that have the same key.
class StackGroups {
 public:
  // `make` fills in the name of a new group.
  void Add(std::uint64_t key, std::uint32_t stack, const StackTally& tally,
           const std::function<void(SnapshotGroup& group)>& make) {
    const auto [known, is_new] = index_.try_emplace(key, groups_.size());
    if (is_new) {
      groups_.push_back({.first_window = tally.first_window});
      most_.push_back(-1);
      make(groups_.back());
    }
    SnapshotGroup& group = groups_[known->second];
    group.amount += tally.amount();
    group.first_window = std::min(group.first_window, tally.first_window);
    group.last_window = std::max(group.last_window, tally.last_window);
    if (tally.bytes <= most_[known->second]) return;
    most_[known->second] = tally.bytes;
    group.stack = stack;
  }
  Groups Take() { return std::move(groups_); }

 private:
  std::map<std::uint64_t, std::size_t> index_;
  Groups groups_;
  std::vector<std::int64_t> most_;  // the bytes of the group's largest stack
};

// The keys of stacks without frames tell why there are none. They are above all ids of frames.
std::uint64_t KeyWithoutFrames(std::uint32_t stack) { return (std::uint64_t{1} << 32) | stack; }

std::function<void(SnapshotGroup& group)> NamerOf(SnapshotView& view, std::uint32_t stack,
                                                  std::optional<FrameId> site) {
  return [&view, stack, site](SnapshotGroup& group) {
    group.name = site ? NameOfFrame(view.frames().Get(*site)) : NameWithoutFrames(stack);
    if (site) group.place = PlaceOfFrame(view.frames().Get(*site));
  };
}

void AddBySite(SnapshotView& view, std::uint32_t stack, const StackTally& tally,
               StackGroups& groups) {
  const std::optional<FrameId> site = view.frames().CallSiteOf(stack);
  groups.Add(SiteKeyOf(view.frames(), stack), stack, tally, NamerOf(view, stack, site));
}

Groups BySite(SnapshotView& view) {
  StackGroups groups;
  ForEachStack(view.tally(), [&](std::uint32_t stack, const StackTally& tally) {
    AddBySite(view, stack, tally, groups);
  });
  return groups.Take();
}

Groups ByFreeingSite(SnapshotView& view) {
  StackGroups groups;
  for (const SnapshotFrees& frees : view.contents().frees) {
    if (!view.Matches(frees.stack)) continue;
    const StackTally tally{.bytes = static_cast<std::int64_t>(frees.bytes),
                           .blocks = static_cast<std::int64_t>(frees.blocks),
                           .first_window = 0};
    AddBySite(view, frees.stack, tally, groups);
  }
  return groups.Take();
}

Groups ByStack(SnapshotView& view) {
  StackGroups groups;
  ForEachStack(view.tally(), [&](std::uint32_t stack, const StackTally& tally) {
    const std::optional<FrameId> site = view.frames().CallSiteOf(stack);
    groups.Add(stack, stack, tally, NamerOf(view, stack, site));
  });
  return groups.Take();
}

// Stacks by a text that is told of each.
Groups ByText(SnapshotView& view, const std::function<std::string(std::uint32_t stack)>& text_of) {
  std::map<std::string, Amount> amounts;
  ForEachStack(view.tally(), [&](std::uint32_t stack, const StackTally& tally) {
    amounts[text_of(stack)] += tally.amount();
  });
  Groups groups;
  for (const auto& [text, amount] : amounts) groups.push_back({.name = text, .amount = amount});
  return groups;
}

std::string ModuleOfStack(SnapshotView& view, std::uint32_t stack) {
  const std::optional<FrameId> site = view.frames().CallSiteOf(stack);
  if (!site) return NameWithoutFrames(stack);
  const std::string module = view.frames().Get(*site).module;
  return module.empty() ? "no known module" : module;
}

std::string ComponentOfStack(SnapshotView& view, std::uint32_t stack) {
  const std::string component = view.ComponentOf(stack);
  return component.empty() ? "no component" : component;
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

std::chrono::nanoseconds Since(const SnapshotContents& contents, std::uint64_t time_ns) {
  const std::uint64_t taken = contents.facts.taken_ns;
  return std::chrono::nanoseconds(taken > time_ns ? taken - time_ns : 0);
}

// Returns "began 2.31 s before, still open".
std::string WhenText(const SnapshotContents& contents, std::uint32_t id) {
  const auto window = contents.windows.find(id);
  if (window == contents.windows.end()) return "";
  const std::string began = FormatDuration(Since(contents, window->second.begin_ns));
  if (window->second.end_ns == 0) return fmt::format("began {} before, still open", began);
  return fmt::format("{} to {} before", began,
                     FormatDuration(Since(contents, window->second.end_ns)));
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

std::string SizeClassText(std::size_t size_class) {
  if (size_class == 0) return "0 to 1 B";
  const std::int64_t most = std::int64_t{1} << std::min<std::size_t>(size_class, 62);
  return fmt::format("{} to {}", FormatBytes(most / 2 + 1), FormatBytes(most));
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
      return BySite(view);
    case GroupBy::kStack:
      return ByStack(view);
    case GroupBy::kModule:
      return ByText(view, [&](std::uint32_t stack) { return ModuleOfStack(view, stack); });
    case GroupBy::kComponent:
      return ByText(view, [&](std::uint32_t stack) { return ComponentOfStack(view, stack); });
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

std::uint64_t SiteKeyOf(StackFrames& frames, std::uint32_t stack) {
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  return site ? frames.PlaceOf(*site) : KeyWithoutFrames(stack);
}

std::string NameOfFrame(const Frame& frame) {
  if (!frame.function.empty()) return ReadableSignature(frame.function);
  if (frame.module.empty()) return fmt::format("{:#x} in no known module", frame.module_offset);
  return ModuleAndOffset(frame);
}

std::string NameWithoutFrames(std::uint32_t stack) {
  const bool is_not_taken = stack == static_cast<std::uint32_t>(UnwindEnd::kNotTaken);
  return is_not_taken ? "stack not taken (--stacks)" : "no call stack was recorded";
}

std::string PlaceOfFrame(const Frame& frame) {
  if (frame.file.empty()) {
    return frame.function.empty() ? "" : std::filesystem::path(frame.module).filename().string();
  }
  return frame.line == 0 ? frame.file : fmt::format("{}:{}", frame.file, frame.line);
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
