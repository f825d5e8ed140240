// Writes the report files that the command line asks for. Their names may hold placeholders, so
// that many jobs write different files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/expected.h"
#include "runner/report/report_format.h"
#include "runner/result/run_result.h"

namespace leakgate {

// What placeholders in the name of a report stand for.
struct RunNaming {
  int pid = 0;                           // leakgate's own
  std::string program;                   // as typed
  std::vector<std::string> environment;  // NAME=VALUE
};

// Returns `path` with its placeholders replaced: {pid}, {binary} (the program's file name),
// {shard} (GTEST_SHARD_INDEX, or 0), {outputs} (TEST_UNDECLARED_OUTPUTS_DIR, or the current
// directory) and {env:NAME}. Two opening braces stand for one. A usage error names a placeholder
// that does not exist, or a variable that is not set. Pure.
[[nodiscard]] Expected<std::filesystem::path> ExpandReportPath(const std::filesystem::path& path,
                                                               const RunNaming& surroundings);

// Returns leakgate's version and the checkout: the one that a CI service names
// ($GITHUB_WORKSPACE, $CI_PROJECT_DIR), else the current directory.
[[nodiscard]] ReportSurroundings SurroundingsOfThisProcess();

// Opens the file of a report. Markdown is appended to $GITHUB_STEP_SUMMARY, where other steps
// write, too.
[[nodiscard]] Expected<AtomicFile> OpenReport(const ReportRequest& report);

// Returns the reader of sources that a page may quote: of all files, or of those below `root` if
// that is not empty. Returns an error if `root` is no directory.
[[nodiscard]] Expected<ReadSource> OwnSources(const std::filesystem::path& root);

// What the HTML report shows besides the run.
struct PageContents {
  std::vector<RunResult> baseline;        // as KeepComparedParts leaves them
  std::optional<EarlierResults> history;  // nullopt: none was named
  ReadSource read_source;
};

// Writes all reports, and returns the first failure.
[[nodiscard]] Expected<void> WriteReports(const std::vector<ReportRequest>& reports,
                                          const RunResult& result, const PageContents& page);

// Returns whether one of `reports` is the HTML report, which alone compares.
[[nodiscard]] bool HasPage(const std::vector<ReportRequest>& reports);

// Returns a usage error if two of `reports` are one file, of which one would replace the other.
// Their placeholders are replaced.
[[nodiscard]] Expected<void> CheckReportsDiffer(const std::vector<ReportRequest>& reports);

// Returns a usage error if a history is named and no report would show it.
[[nodiscard]] Expected<void> CheckHistoryIsShown(const std::filesystem::path& history,
                                                 const std::vector<ReportRequest>& reports);

}  // namespace leakgate
