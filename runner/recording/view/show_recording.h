// Shows a recording as text and as JSON: what an interval of it allocated, freed and left, and
// which code did so.
//
//   recording of /src/build/net_test, PID 4242
//     recorded    2026-11-21 15:20:07 UTC, for 2.310 s
//     peak        3.4 MiB (3565158 B) in 120 blocks, at 1.310 s, in HttpTest.KeepAlive
//     outstanding 1.2 MiB (1258291 B) in 20 blocks
//
//   Call sites by peak: 2 of 17
//           PEAK      %  OUTSTANDING       TOTAL     BLOCKS   TEMPORARY    MEDIAN   LONGEST  ...
//        3.0 MiB   88.2      1.0 MiB     9.0 MiB       1000          12     12 us    1.31 s  ...
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/recording_view.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {

struct ShowRecordingOptions {
  SnapshotLayout layout = SnapshotLayout::kGroups;
  std::optional<GroupBy> group_by{};   // nullopt: an overview
  std::optional<Weigh> weigh{};        // nullopt: the default of WeighOf
  std::optional<std::size_t> top{};    // the most groups, or callees of one frame
  std::optional<std::size_t> depth{};  // the most frames of a stack, or levels of the tree

  // Returns by what groups are ordered if one sum is asked for.
  [[nodiscard]] Weigh WeighOf(const RecordingView& view) const {
    if (weigh) return *weigh;
    return view.tally().HasPeak() ? Weigh::kPeak : Weigh::kTotal;
  }
};

[[nodiscard]] std::string ShowRecordingText(RecordingView& view,
                                            const ShowRecordingOptions& options,
                                            const TextStyle& style);
// docs/recordings.md describes it.
[[nodiscard]] nlohmann::ordered_json ShowRecordingJson(RecordingView& view,
                                                       const ShowRecordingOptions& options);

[[nodiscard]] nlohmann::ordered_json SumJson(const RecordedSum& sum);

// Return what is known about the whole recording; as text, the lines above the tables.
[[nodiscard]] std::string RecordingHeading(RecordingView& view, const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json RecordingFactsJson(RecordingView& view);

// Returns which blocks are counted: "blocks of 1.0 KiB and more"; an empty text if all are.
[[nodiscard]] std::string ChosenBlocksText(const RecordingView& view);

// Returns a line for everything that the recording lacks.
[[nodiscard]] std::vector<std::string> MissingFrom(const RecordingView& view);
// Returns whether something is missing on which the sums of the interval depend.
[[nodiscard]] bool IsIncomplete(const RecordingView& view);

}  // namespace leakgate
