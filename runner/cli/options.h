// The command line: arguments in, one of the commands out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runner/cli/budget_commands.h"
#include "runner/cli/doctor_command.h"
#include "runner/cli/history_command.h"
#include "runner/cli/merge_command.h"
#include "runner/cli/progress_mode.h"
#include "runner/cli/session_command.h"
#include "runner/cli/snapshot_command.h"
#include "runner/cli/snapshot_take_command.h"
#include "runner/report/report_file.h"
#include "runner/report/text_report.h"
#include "runner/run/run_request.h"
#include "runner/run/test_snapshots.h"
#include "runner/util/expected.h"

namespace leakgate {

struct RunCommand {
  RunRequest request;                  // its `agent` and `baseline` are left empty
  std::vector<ReportRequest> reports;  // their paths may hold placeholders
  std::filesystem::path baseline;      // an earlier report; empty: none
  std::filesystem::path source_root;   // of those that a page quotes; empty: anywhere
  std::filesystem::path snapshots;     // a directory for those of tests; empty: none
  SnapshotTests snapshot_tests = SnapshotTests::kOverBudget;
  std::optional<int> skip_exit_code;  // instead of 0, where every test was skipped
  bool prints_measurements = false;   // of CTest, on standard output
  SummaryDetail detail = SummaryDetail::kNormal;
  ProgressMode progress = ProgressMode::kAuto;
};

// Prints the list of what counts as the framework's own.
struct FrameworkCommand {};

// Text that was asked for: help or the version.
struct PrintCommand {
  std::string text;
};

// Writes the manual pages of all commands into a directory, which is made.
struct WriteManPagesCommand {
  std::filesystem::path directory;
};

using Command =
    std::variant<RunCommand, DoctorCommand, FrameworkCommand, PrintCommand, WriteManPagesCommand,
                 BudgetCheckCommand, BudgetInitCommand, BudgetRatchetCommand, ExplainCommand,
                 MergeCommand, HistoryAddCommand, HistoryShowCommand, HistoryTrendCommand,
                 SessionStartCommand, SessionExecCommand, SessionUpdateCommand, SessionQueryCommand,
                 SessionListCommand, SessionStopCommand, SnapshotTakeCommand,
                 SnapshotPeriodicCommand, SnapshotConfigCommand, SnapshotShowCommand,
                 SnapshotDiffCommand, SnapshotExportCommand>;

// A usage error names the argument and the remedy.
[[nodiscard]] Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace leakgate
