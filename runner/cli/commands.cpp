#include "runner/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "runner/attach/program_environment.h"
#include "runner/cli/agent_location.h"
#include "runner/cli/command_page.h"
#include "runner/cli/framework_text.h"
#include "runner/cli/man_page.h"
#include "runner/cli/progress_display.h"
#include "runner/cli/report_path.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/merge/read_baseline.h"
#include "runner/named_session/run_server.h"
#include "runner/report/ctest_measurements.h"
#include "runner/report/formats/html_writer.h"
#include "runner/report/quantity_text.h"
#include "runner/report/style.h"
#include "runner/report/text_report.h"
#include "runner/session/run_outcome.h"

namespace leakgate {
namespace {

using Runs = std::vector<RunResult>;

// Of those of a baseline the ones of `program`; all where it had another name then.
Runs OfProgram(const std::filesystem::path& program, Runs runs) {
  const auto others = std::stable_partition(runs.begin(), runs.end(), [&](const RunResult& run) {
    return std::filesystem::path(run.binary).filename() == program.filename();
  });
  if (others != runs.begin()) runs.erase(others, runs.end());
  return runs;
}

// The baseline judges, and a page compares with it: with what it is before the program
// starts, since a report may be about to replace it.
Expected<Runs> ReadBaselineOf(RunCommand& command) {
  Runs compared;
  if (command.baseline.empty()) return compared;
  const bool compares =
      std::any_of(command.reports.begin(), command.reports.end(),
                  [](const ReportRequest& report) { return report.format == ReportFormat::kHtml; });
  Expected<Baseline> baseline = ReadBaseline(command.baseline, [&](RunResult&& run) {
    if (compares) compared.push_back(ComparedRun(std::move(run)));
  });
  if (!baseline) return Unexpected(baseline.error());
  command.request.baseline = std::make_shared<const Baseline>(*std::move(baseline));
  return OfProgram(command.request.program, std::move(compared));
}

// What can be wrong with the files of a run is told before the program starts. The runs
// to compare with.
Expected<Runs> PrepareFiles(RunCommand& command) {
  for (ReportRequest& report : command.reports) {
    Expected<std::filesystem::path> path = ExpandReportPath(
        report.path,
        {.pid = ::getpid(), .program = command.request.program, .environment = OwnEnvironment()});
    if (!path) return Unexpected(path.error());
    report.path = *std::move(path);
  }
  if (!command.snapshots.empty()) {
    auto snapshots = TestSnapshots::Create(command.snapshots, command.snapshot_tests);
    if (!snapshots) return Unexpected(snapshots.error());
    command.request.snapshots = *std::move(snapshots);
  }
  return ReadBaselineOf(command);
}

// Which snapshots there are, and how to look at them. Whoever asked for them must know if
// they are not there.
Expected<void> TellOfSnapshots(const RunCommand& command) {
  const TestSnapshots* const snapshots = command.request.snapshots.get();
  if (snapshots == nullptr) return {};
  const auto& kept = snapshots->kept();
  const auto whole = std::find_if(kept.begin(), kept.end(), [](const TestSnapshotPair& pair) {
    return !pair.begin.empty() && !pair.end.empty();
  });
  if (command.detail != SummaryDetail::kQuiet || !kept.empty()) {
    PrintMessage(fmt::format("snapshots of {} in {}",
                             FormatCount(static_cast<std::int64_t>(kept.size()), "test"),
                             command.snapshots.string()));
  }
  if (whole != kept.end()) {
    PrintMessage(fmt::format("to see what {} left: leakgate snapshot diff {} {}", whole->test,
                             whole->begin.string(), whole->end.string()));
  }
  if (!snapshots->problem().empty()) return InconclusiveError(snapshots->problem());
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
  command.request.serve = [](RunProcesses processes) {
    return RunServer::Start(std::move(processes));
  };
  const Expected<Runs> compared = PrepareFiles(command);
  if (!compared) return Unexpected(compared.error());
  const Expected<ReadSource> sources = OwnSources(command.source_root);
  if (!sources) return Unexpected(sources.error());
  const Expected<RunResult> result = RunShowingProgress(command.request, command.progress);
  if (!result) return Unexpected(result.error());

  Print(stderr, SummaryText(*result, StyleOfStandardError(), command.detail));
  if (command.prints_measurements) Print(stdout, CTestMeasurementsText(*result));
  Expected<void> written = WriteReports(command.reports, *result, *compared, *sources);
  if (const Expected<void> told = TellOfSnapshots(command); written) written = told;
  if (written) return ExitCodeToTell(*result, command.skip_exit_code);
  if (result->exit_code == 0) return Unexpected(written.error());
  PrintMessage(written.error().message);
  return ExitCodeToTell(*result, command.skip_exit_code);
}

Expected<int> Execute(const FrameworkCommand&) {
  PrintVerbatim(stdout, FrameworkRulesText());
  return 0;
}

Expected<int> Execute(const PrintCommand& command) {
  PrintVerbatim(stdout, command.text);
  return 0;
}

Expected<int> Execute(const WriteManPagesCommand& command) {
  std::error_code error;
  std::filesystem::create_directories(command.directory, error);  // else the first page says why
  const std::vector<CommandPage> pages = AllPages();
  for (const CommandPage& page : pages) {
    const std::filesystem::path path = command.directory / (ManPageName(page) + ".1");
    const Expected<void> written = WriteFileAtomically(path, ManPage(page, pages));
    if (!written) return Unexpected(written.error());
  }
  return 0;
}

}  // namespace leakgate
