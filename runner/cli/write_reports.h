// Report files that many jobs write apart: what placeholders in their names stand
// for. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/expected.h"
#include "runner/report/report_format.h"
#include "runner/result/run_result.h"

namespace leakgate {

// What tells one run from another.
struct RunNaming {
  int pid = 0;                           // leakgate's own
  std::string program;                   // as typed
  std::vector<std::string> environment;  // NAME=VALUE
};

// `path` with {pid}, {binary} (the program's file name), {shard} (GTEST_SHARD_INDEX,
// or 0), {outputs} (TEST_UNDECLARED_OUTPUTS_DIR, or the current directory) and
// {env:NAME}. Two opening braces are one, as they are. A usage error names a placeholder
// that there is not, or a variable that is not set.
[[nodiscard]] Expected<std::filesystem::path> ExpandReportPath(const std::filesystem::path& path,
                                                               const RunNaming& surroundings);

// The report files that the command line asks for, and what they tell of where they
// were written.

// The checkout that a CI service names ($GITHUB_WORKSPACE, $CI_PROJECT_DIR), else the
// current directory; leakgate's version.
[[nodiscard]] ReportSurroundings SurroundingsOfThisProcess();

// Markdown for $GITHUB_STEP_SUMMARY is appended, as the other steps' is.
[[nodiscard]] Expected<AtomicFile> OpenReport(const ReportRequest& report);

// What `run` itself may quote: all sources, or if `root` is not empty those below it. An error
// if that is no directory.
[[nodiscard]] Expected<ReadSource> OwnSources(const std::filesystem::path& root);

// Writes them all; the first failure is the result. `baseline`: the runs to compare
// with, as KeepComparedParts leaves them.
[[nodiscard]] Expected<void> WriteReports(const std::vector<ReportRequest>& reports,
                                          const RunResult& result,
                                          const std::vector<RunResult>& baseline,
                                          const ReadSource& read_source);

}  // namespace leakgate
