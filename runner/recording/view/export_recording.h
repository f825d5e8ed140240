// Writes a recording in formats of other tools, and as a page for a browser.
#pragma once

#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/recording/view/recording_groups.h"
#include "runner/recording/view/recording_view.h"
#include "runner/report/report_format.h"
#include "runner/snapshot/view/export_snapshot.h"

namespace leakgate {

enum class RecordingFormat {
  // Profiles: one sum for each stack.
  kFolded,
  kPprof,
  kSpeedscope,
  // Events, or what follows from them over time.
  kHeaptrack,
  kPerfetto,
  kHtml,
  // The live blocks at a moment: see SnapshotAt.
  kJson,
  kSnapshot,
};

// Returns the formats with their words: "folded", "pprof", ...
[[nodiscard]] std::vector<std::pair<std::string_view, RecordingFormat>> RecordingFormats();

// Returns the same format of snapshots; nothing if snapshots do not have it.
[[nodiscard]] std::optional<SnapshotFormat> AsSnapshotFormat(RecordingFormat format);

// Returns whether a format has one sum for each stack.
[[nodiscard]] bool IsProfile(RecordingFormat format);
// Return whether a format can describe one moment, and whether it must.
[[nodiscard]] bool CanBeOfMoment(RecordingFormat format);
[[nodiscard]] bool MustBeOfMoment(RecordingFormat format);

// Writes `view`. `weigh` chooses the sum that a profile has. Formats with events read the recording
// again. REQUIRES: `view` has been read; the format need not describe a moment.
[[nodiscard]] Expected<void> ExportRecording(RecordingView& view, RecordingFormat format,
                                             Weigh weigh, std::ostream& out,
                                             const ReportSurroundings& surroundings);

// The two formats with events, for ExportRecording. For an interval, they have the blocks that were
// allocated in it.
[[nodiscard]] Expected<void> WriteHeaptrackEvents(RecordingView& view, std::ostream& out);
[[nodiscard]] Expected<void> WritePerfettoTrace(RecordingView& view, std::ostream& out);

}  // namespace leakgate
