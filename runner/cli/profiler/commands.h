// All commands of the profiler.
#pragma once

#include <variant>

#include "runner/cli/profiler/record.h"
#include "runner/cli/profiler/recording.h"
#include "runner/cli/profiler/session.h"
#include "runner/cli/profiler/session_unit.h"
#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/profiler/top.h"

namespace leakgate {

// A command of the gate, or of the profiler.
template <typename... Gate>
using WithProfiler =
    std::variant<Gate..., RecordCommand, RecordingSwitchCommand<RecordingSwitch::kPause>,
                 RecordingSwitchCommand<RecordingSwitch::kContinue>,
                 RecordingSwitchCommand<RecordingSwitch::kStop>, SessionStartCommand,
                 SessionExecCommand, SessionUpdateCommand, SessionQueryCommand, SessionListCommand,
                 SessionStopCommand, SessionUnitCommand, SnapshotTakeCommand,
                 SnapshotPeriodicCommand, SnapshotConfigCommand, SnapshotShowCommand,
                 SnapshotDiffCommand, SnapshotExportCommand, SnapshotBundleCommand,
                 RecordingShowCommand, RecordingDiffCommand, RecordingExportCommand, TopCommand>;

// Whether the command may ask servers for debug files: nothing else waits for the network.
template <typename Command>
[[nodiscard]] bool LooksAtSnapshots(const Command& command) {
  return std::holds_alternative<SnapshotShowCommand>(command) ||
         std::holds_alternative<SnapshotDiffCommand>(command) ||
         std::holds_alternative<SnapshotExportCommand>(command);
}

}  // namespace leakgate
