// All that a command line can come to: one of these. Each command's file declares its options,
// checks what they come to, and does it.
#pragma once

#include <variant>

#include "runner/cli/commands/budget_check.h"
#include "runner/cli/commands/budget_init.h"
#include "runner/cli/commands/budget_ratchet.h"
#include "runner/cli/commands/doctor.h"
#include "runner/cli/commands/documents.h"
#include "runner/cli/commands/explain.h"
#include "runner/cli/commands/history.h"
#include "runner/cli/commands/merge.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/commands/session.h"
#include "runner/cli/commands/snapshot_read.h"
#include "runner/cli/commands/snapshot_take.h"

namespace leakgate {

using Command =
    std::variant<RunCommand, DoctorCommand, FrameworkCommand, PrintCommand, WriteManPagesCommand,
                 BudgetCheckCommand, BudgetInitCommand, BudgetRatchetCommand, ExplainCommand,
                 MergeCommand, HistoryAddCommand, HistoryShowCommand, HistoryTrendCommand,
                 SessionStartCommand, SessionExecCommand, SessionUpdateCommand, SessionQueryCommand,
                 SessionListCommand, SessionStopCommand, SnapshotTakeCommand,
                 SnapshotPeriodicCommand, SnapshotConfigCommand, SnapshotShowCommand,
                 SnapshotDiffCommand, SnapshotExportCommand>;

}  // namespace leakgate
