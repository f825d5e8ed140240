// A moment of a recording as a snapshot of the live blocks. So everything that can be done with a
// snapshot can be done with it: showing, comparing, exporting, writing into a file of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/recording/view/event_tally.h"
#include "runner/recording/view/recording_view.h"
#include "runner/snapshot/view/block_stream.h"

namespace leakgate {

struct RecordingMoment {
  RecordingTime time{};     // not kPeak
  std::uint64_t event = 0;  // if not 0, the moment is after this event instead, counted from 1
  std::string occasion{};   // the name of the moment: "the peak"
  NumberRange size_bytes{};
  NumberRange age_ns{};  // how long blocks had lived then
};

// Returns the snapshot of `moment`. When it is called, it returns a usage error if there is no such
// moment in the recording, which is called `name`.
[[nodiscard]] SnapshotSource SnapshotAt(RecordingSource recording, std::string name,
                                        RecordingMoment moment);

// Returns the moment of the peak that `view` has found, named as the peak.
[[nodiscard]] RecordingMoment PeakOf(const RecordingView& view);

}  // namespace leakgate
