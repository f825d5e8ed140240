#include "runner/cli/commands/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "runner/base/path_text.h"
#include "runner/cli/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/report/formats/writers.h"
#include "runner/results/find_results.h"
#include "runner/results/history.h"
#include "runner/results/merged_runs.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// The reports that are being written.
class MergedReports {
 public:
  MergedReports(ReadSource read_source, std::optional<EarlierResults> history, std::size_t runs) {
    surroundings_.read_source = std::move(read_source);
    surroundings_.history = std::move(history);
    surroundings_.runs = runs;
  }

  Expected<void> Open(const std::vector<ReportRequest>& reports) {
    files_.reserve(reports.size());
    for (const ReportRequest& report : reports) {
      LEAKGATE_TRY_ASSIGN(AtomicFile file, OpenReport(report));
      files_.push_back(std::move(file));
      writers_.push_back(NewReportWriter(report.format, files_.back().out(), surroundings_));
    }
    return {};
  }

  Expected<void> AddBaseline(const fs::path& baseline) {
    return ReadResults(baseline, [this](RunResult&& run, const RunPlace&) {
      for (const ReportWriter& writer : writers_) {
        if (writer.add_baseline) writer.add_baseline(run);
      }
    });
  }

  Expected<void> Add(const RunPlace& place) {
    LEAKGATE_TRY_ASSIGN(const RunResult run, ReadResultAt(place));
    for (const ReportWriter& writer : writers_) writer.add(run);
    return {};
  }

  Expected<void> Commit() {
    for (const ReportWriter& writer : writers_) writer.finish();
    Expected<void> outcome;
    for (AtomicFile& file : files_) {
      const Expected<void> written = file.Commit();
      if (!written && outcome) outcome = written;
    }
    return outcome;
  }

 private:
  ReportSurroundings surroundings_ = SurroundingsOfThisProcess();
  std::vector<AtomicFile> files_;
  std::vector<ReportWriter> writers_;
};

// Returns the files of a directory that are no results: those about to be written, and the
// baseline.
std::vector<fs::path> OtherFiles(const MergeCommand& command) {
  std::vector<fs::path> paths;
  for (const ReportRequest& report : command.reports) paths.push_back(report.path);
  if (!command.baseline.empty()) paths.push_back(command.baseline);
  return paths;
}

// Tells the display's thread how far the merge is, while the counts change.
class MergeProgress {
 public:
  MergeProgress(RunProgress* shown, ProgressStage stage, std::size_t all) {
    if (shown == nullptr) return;
    shown->Follow([done = done_, stage, all = static_cast<std::int64_t>(all)] {
      return Progress{.stage = stage, .done = done->load(std::memory_order_relaxed), .all = all};
    });
  }
  void Advance() { done_->fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::int64_t>> done_ =
      std::make_shared<std::atomic<std::int64_t>>(0);
};

// The results name files of the machines that they come from. No such file is read unless the user
// asks for it.
Expected<ReadSource> SourcesOf(const MergeCommand& command) {
  return command.source_root.empty() ? ReadSource() : SourcesBelow(command.source_root);
}

// Returns what earlier runs of the same programs left. The merged runs may be in the history
// already: they are left out there.
Expected<std::optional<EarlierResults>> EarlierThan(const MergedRuns& runs,
                                                    const MergeCommand& command) {
  if (command.history.empty()) return std::nullopt;
  LEAKGATE_TRY_ASSIGN(const History history, History::Open(command.history, Database::Mode::kRead));
  HistoryScope scope;
  for (const MergedRun* const run : runs.Sorted()) {
    scope.programs.insert(FileNameIn(run->binary));
    scope.without.insert(DigestOf(run->place.content));
  }
  LEAKGATE_TRY_ASSIGN(auto moments, history.Totals(scope));
  return EarlierResults{PathText(command.history), std::move(moments)};
}

Expected<void> WriteReports(const MergeCommand& command, const MergedRuns& runs,
                            RunProgress* shown) {
  if (command.reports.empty()) return {};
  LEAKGATE_TRY_ASSIGN(const ReadSource sources, SourcesOf(command));
  LEAKGATE_TRY_ASSIGN(auto earlier, EarlierThan(runs, command));
  MergedReports reports(sources, std::move(earlier), runs.size());
  if (Expected<void> opened = reports.Open(command.reports); !opened) return opened;
  if (!command.baseline.empty()) {
    if (Expected<void> read = reports.AddBaseline(command.baseline); !read) return read;
  }
  MergeProgress progress(shown, ProgressStage::kWriting, runs.size());
  for (const MergedRun* run : runs.Sorted()) {
    if (Expected<void> added = reports.Add(run->place); !added) return added;
    progress.Advance();
  }
  return reports.Commit();
}

Expected<void> ReadAndWrite(const MergeCommand& command, const FoundResults& found,
                            MergedRuns& runs) {
  ProgressDisplay display(command.progress, TerminalUse::kAlone);
  MergeProgress progress(display.progress(), ProgressStage::kReading, found.files.size());
  for (const auto& file : found.files) {
    Expected<void> read = ReadResults(
        file, [&](RunResult&& run, const RunPlace& place) { runs.Add(std::move(run), place); });
    if (!read) return read;
    progress.Advance();
  }
  return WriteReports(command, runs, display.progress());
}

// Verdicts are the runs' own. If no report compared with the baseline, users would think that it
// gates.
Expected<void> CheckBaseline(const MergeCommand& command) {
  if (command.baseline.empty() || HasPage(command.reports)) return {};
  return UsageError(fmt::format(
      "--baseline {}: only the HTML report of a merge compares; add --report html=FILE, or "
      "give the baseline to leakgate run, which judges by it",
      PathText(command.baseline)));
}

}  // namespace

Expected<int> Execute(const MergeCommand& command) {
  // Megabytes of results are not read for a history that cannot be.
  if (!command.history.empty()) {
    LEAKGATE_TRY_ASSIGN([[maybe_unused]] const History history,
                        History::Open(command.history, Database::Mode::kRead));
  }
  LEAKGATE_TRY_ASSIGN(const FoundResults found, FindResults(command.results, OtherFiles(command)));
  MergedRuns runs;
  LEAKGATE_TRY(ReadAndWrite(command, found, runs));
  const MergeVerdict verdict = VerdictOn(runs, command.expected);
  LEAKGATE_TRY_ASSIGN(const std::vector<Cause> causes, runs.causes().Largest(kMostCauses));
  Print(stderr, MergeSummary(runs, verdict, causes, found.warnings, StyleOfStandardError()));
  return static_cast<int>(verdict.exit_code);
}

void Declare(MergeCommand& command, OptionList& options) {
  options.AddArgument("results", FileWord("RESULT"), command.results);
  const auto add_json = [&command](const std::string& path) -> Expected<void> {
    if (!path.empty()) command.reports.push_back({ReportFormat::kJson, path});
    return {};
  };
  options.AddOnce("-o,--output", FileWord("FILE"), add_json,
                  "Write the merged report; as --report json=FILE");
  options.Add("--report", ReportWord(), command.reports, ParseReport,
              "Write a report of all runs, in a format of leakgate run's. Repeatable");
  options.Add("--expect,--expect-shards", TextWord("N"), command.expected, ParseRunCount,
              "Inconclusive if there are fewer than N runs. What GTEST_TOTAL_SHARDS told of each "
              "run is checked anyway");
  options.Add("--baseline", FileWord("REPORT"), command.baseline,
              "Compare with this earlier JSON report, of one run or merged, in the HTML report. "
              "Verdicts stay the runs' own");
  options.Add("--history", FileWord("DB"), command.history,
              "Show in the HTML report what earlier runs of the same programs left, as leakgate "
              "history add has kept it in DB");
  options.Add("--source-root", FileWord("DIR"), command.source_root,
              "Quote the source lines of files below DIR in the HTML report. Without it, none are: "
              "results name files, and may come from anywhere");
  AddProgress(command.progress, options);
}

Expected<void> Complete(MergeCommand& command, const ProgramLine&) {
  if (command.results.empty()) {
    return UsageError("no results to merge; name reports or directories: leakgate merge RESULTS");
  }
  LEAKGATE_TRY(CheckReportsDiffer(command.reports));
  LEAKGATE_TRY(CheckBaseline(command));
  return CheckHistoryIsShown(command.history, command.reports);
}

}  // namespace leakgate
