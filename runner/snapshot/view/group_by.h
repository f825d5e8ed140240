// By what the tables of snapshots and recordings group blocks.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/word_table.h"

namespace leakgate {

enum class GroupBy {
  kSite,       // the user's own frame
  kStack,      // the whole stack
  kModule,     // the file that has the call site
  kComponent,  // the component of the code, by budget files
  kThread,
  kWindow,  // program, suite or test
  kAge,
  kKind,
  kSize,
  kLifetime,  // only of blocks that were allocated and freed in the interval of a recording
  kFreedBy,   // not live blocks, but freed ones, by the user's own frame that freed them
  kCommit,    // not blocks, but what the program has mapped, by the user's own frame
};
template <>
struct WordTable<GroupBy> {
  static constexpr std::array kWords = {
      Named{GroupBy::kSite, "site"},        Named{GroupBy::kStack, "stack"},
      Named{GroupBy::kModule, "module"},    Named{GroupBy::kComponent, "component"},
      Named{GroupBy::kThread, "thread"},    Named{GroupBy::kWindow, "window"},
      Named{GroupBy::kAge, "age"},          Named{GroupBy::kKind, "kind"},
      Named{GroupBy::kSize, "size"},        Named{GroupBy::kLifetime, "lifetime"},
      Named{GroupBy::kFreedBy, "freed-by"}, Named{GroupBy::kCommit, "commit"},
  };
};

// The groupings in the order in which their tables are shown.
inline constexpr std::array kSnapshotGroupings = {
    GroupBy::kSite,   GroupBy::kStack, GroupBy::kModule, GroupBy::kComponent, GroupBy::kThread,
    GroupBy::kWindow, GroupBy::kAge,   GroupBy::kKind,   GroupBy::kSize,      GroupBy::kFreedBy};
inline constexpr std::array kRecordingGroupings = {
    GroupBy::kSite,     GroupBy::kStack,   GroupBy::kModule, GroupBy::kComponent,
    GroupBy::kThread,   GroupBy::kWindow,  GroupBy::kKind,   GroupBy::kSize,
    GroupBy::kLifetime, GroupBy::kFreedBy, GroupBy::kCommit};

// Returns the words that --group-by takes for `groupings`.
[[nodiscard]] inline std::vector<std::pair<std::string_view, GroupBy>> WordsOf(
    std::span<const GroupBy> groupings) {
  std::vector<std::pair<std::string_view, GroupBy>> words;
  for (const GroupBy by : groupings) words.emplace_back(Word(by), by);
  return words;
}

// Returns the title of a table: "Call sites".
[[nodiscard]] constexpr std::string_view TitleOf(GroupBy by) {
  constexpr std::array kTitles = {"Call sites",
                                  "Call stacks",
                                  "Modules",
                                  "Components",
                                  "Threads",
                                  "Windows",
                                  "Age",
                                  "Kinds",
                                  "Sizes of blocks",
                                  "Lifetimes of blocks",
                                  "Freed by",
                                  "Mapped by the program itself"};
  return kTitles[static_cast<std::size_t>(by)];
}

// Returns whether these groups have windows in which their blocks were allocated.
[[nodiscard]] constexpr bool HasWindows(GroupBy by) {
  return by == GroupBy::kSite || by == GroupBy::kStack;
}
// Returns whether these groups are stacks, or have them.
[[nodiscard]] constexpr bool HasStacks(GroupBy by) {
  return HasWindows(by) || by == GroupBy::kFreedBy || by == GroupBy::kCommit;
}

}  // namespace leakgate
