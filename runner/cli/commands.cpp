#include "runner/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "runner/cli/agent_location.h"
#include "runner/cli/framework_text.h"
#include "runner/cli/report_path.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/merge/read_baseline.h"
#include "runner/report/ctest_measurements.h"
#include "runner/report/text_report.h"
#include "runner/session/program_environment.h"
#include "runner/session/run_outcome.h"

namespace leakgate {
namespace {

// What can be wrong with the files of a run is told before the program starts.
Expected<void> PrepareFiles(RunCommand& command) {
  for (ReportRequest& report : command.reports) {
    Expected<std::filesystem::path> path = ExpandReportPath(
        report.path,
        {.pid = ::getpid(), .program = command.request.program, .environment = OwnEnvironment()});
    if (!path) return Unexpected(path.error());
    report.path = *std::move(path);
  }
  if (command.baseline.empty()) return {};
  Expected<Baseline> baseline = ReadBaseline(command.baseline);
  if (!baseline) return Unexpected(baseline.error());
  command.request.baseline = std::make_shared<const Baseline>(*std::move(baseline));
  return {};
}

// The report keeps the run's own exit code: whoever merges reports goes by that.
int ExitCodeToTell(const RunResult& result, std::optional<int> skip_exit_code) {
  if (!skip_exit_code) return result.exit_code;
  if (result.exit_code == 0 && RanNoTestToItsEnd(result)) return *skip_exit_code;
  return result.exit_code == *skip_exit_code ? 1 : result.exit_code;
}

}  // namespace

Expected<int> Execute(RunCommand command) {
  command.request.agent = FindAgent();
  const Expected<void> prepared = PrepareFiles(command);
  if (!prepared) return Unexpected(prepared.error());
  const Expected<RunResult> result = Run(command.request);
  if (!result) return Unexpected(result.error());

  Print(stderr, SummaryText(*result, StyleOfStandardError(), command.detail));
  if (command.prints_measurements) Print(stdout, CTestMeasurementsText(*result));
  const Expected<void> written = WriteReports(command.reports, *result);
  if (written) return ExitCodeToTell(*result, command.skip_exit_code);
  if (result->exit_code == 0) return Unexpected(written.error());
  Print(stderr, fmt::format("leakgate: {}\n", written.error().message));
  return ExitCodeToTell(*result, command.skip_exit_code);
}

Expected<int> Execute(const FrameworkCommand&) {
  Print(stdout, FrameworkRulesText());
  return 0;
}

Expected<int> Execute(const PrintCommand& command) {
  Print(stdout, command.text);
  return 0;
}

}  // namespace leakgate
