// Groups the counts of a recording, and names the groups.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/word_table.h"
#include "runner/recording/view/recording_view.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/groups.h"

namespace leakgate {

// The sum by which groups are ordered, of which their shares are, and which profiles have.
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

using RecordingGroup = Group<RecordedCounts>;

// Returns whether the groups have all counts. Others have only one sum, as their total.
[[nodiscard]] constexpr bool HasAllCounts(GroupBy by) {
  return by != GroupBy::kLifetime && by != GroupBy::kFreedBy && by != GroupBy::kCommit;
}

// Returns all groups that are not empty, the largest by `weigh` first; lifetimes are in their own
// order. For commits, `total`, `live` and Outstanding are set.
[[nodiscard]] std::vector<RecordingGroup> GroupsOf(RecordingView& view, GroupBy by, Weigh weigh);

// Returns the stacks for which `weigh` is not 0, with their sums.
[[nodiscard]] std::vector<StackAmount> AmountsByStack(const EventTally& tally, Weigh weigh);

// Returns "350 ns", "12 us", "4.1 ms", "2.30 s" or "3 min 20 s".
[[nodiscard]] std::string LifetimeText(std::uint64_t ns);
// Returns a time since the recording began: "1.203 s".
[[nodiscard]] std::string MomentText(std::uint64_t ns);

}  // namespace leakgate
