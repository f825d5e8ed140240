// Groups what a recording has counted, and names the groups.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/word_table.h"
#include "runner/recording/view/recording_view.h"
#include "runner/snapshot/view/call_tree.h"

namespace leakgate {

enum class RecordingGroupBy {
  kSite,       // the user's own frame
  kStack,      // the whole stack
  kModule,     // the file that has the call site
  kComponent,  // the component of the code, by budget files
  kThread,
  kWindow,  // program, suite or test
  kKind,
  kSize,
  kLifetime,  // only of what the interval has allocated and freed
  kFreedBy,   // what was freed, by the user's own frame that freed it
  kCommit,    // not blocks, but what the program has mapped, by the user's own frame
};
template <>
struct WordTable<RecordingGroupBy> {
  static constexpr std::array kWords = {
      Named{RecordingGroupBy::kSite, "site"},
      Named{RecordingGroupBy::kStack, "stack"},
      Named{RecordingGroupBy::kModule, "module"},
      Named{RecordingGroupBy::kComponent, "component"},
      Named{RecordingGroupBy::kThread, "thread"},
      Named{RecordingGroupBy::kWindow, "window"},
      Named{RecordingGroupBy::kKind, "kind"},
      Named{RecordingGroupBy::kSize, "size"},
      Named{RecordingGroupBy::kLifetime, "lifetime"},
      Named{RecordingGroupBy::kFreedBy, "freed-by"},
      Named{RecordingGroupBy::kCommit, "commit"},
  };
};
// Returns the title of a table: "Call sites".
[[nodiscard]] std::string_view TitleOf(RecordingGroupBy by);

// The sum that groups are ordered by, that their shares are of, and that profiles have.
enum class Weigh {
  kPeak,         // the part of what was live when most was
  kOutstanding,  // allocated in the interval, and not freed in it: the impacting size
  kTotal,        // allocated in the interval
  kTemporary,    // freed by the thread that allocated it before that allocated again
};
template <>
struct WordTable<Weigh> {
  static constexpr std::array kWords = {
      Named{Weigh::kPeak, "peak"},
      Named{Weigh::kOutstanding, "outstanding"},
      Named{Weigh::kTotal, "total"},
      Named{Weigh::kTemporary, "temporary"},
  };
};
[[nodiscard]] RecordedSum SumOf(const RecordedCounts& counts, Weigh weigh);

struct RecordingGroup {
  std::string name{};   // not made printable
  std::string place{};  // "src/net/pool.cc:88", or what else there is to say; may be empty
  RecordedCounts counts{};
  std::uint64_t median_ns = 0;  // about, of the lifetimes in the interval; of groups of stacks
  std::uint32_t stack = 0;      // of sites and stacks: the stack that has most
};

// Tells whether these groups are stacks, or have them.
[[nodiscard]] constexpr bool HasStacks(RecordingGroupBy by) {
  return by == RecordingGroupBy::kSite || by == RecordingGroupBy::kStack ||
         by == RecordingGroupBy::kFreedBy || by == RecordingGroupBy::kCommit;
}
// Tells whether the groups have all counts. Others have one sum alone, as their total.
[[nodiscard]] constexpr bool HasAllCounts(RecordingGroupBy by) {
  return by != RecordingGroupBy::kLifetime && by != RecordingGroupBy::kFreedBy &&
         by != RecordingGroupBy::kCommit;
}

// Returns all groups that have anything, those with most by `weigh` first; lifetimes are in their
// own order. Of commits, `total`, `live` and Outstanding are set.
[[nodiscard]] std::vector<RecordingGroup> GroupsOf(RecordingView& view, RecordingGroupBy by,
                                                   Weigh weigh);

// Returns the stacks that have any of `weigh`, with their sums.
[[nodiscard]] std::vector<StackAmount> AmountsByStack(const EventTally& tally, Weigh weigh);

// Returns "350 ns", "12 us", "4.1 ms", "2.30 s" or "3 min 20 s".
[[nodiscard]] std::string LifetimeText(std::uint64_t ns);
// Returns a time since the recording began: "1.203 s".
[[nodiscard]] std::string MomentText(std::uint64_t ns);

}  // namespace leakgate
