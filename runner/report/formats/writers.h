// Makes the writer of each report format. A writer gets runs and writes to `out`, which must
// outlive it; the same runs give the same bytes.
#pragma once

#include <ostream>

#include "runner/report/report_file.h"
#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewReportWriter(ReportFormat format, std::ostream& out,
                                           const ReportSurroundings& surroundings = {});

// Folded stacks, "test;outermost;...;innermost bytes", for flamegraph.pl, inferno and
// speedscope: the outstanding blocks, without the framework's own.
[[nodiscard]] ReportWriter NewFoldedWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

// GitHub's workflow commands: an annotation for each issue, where it was allocated.
[[nodiscard]] ReportWriter NewGithubWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

// GitLab's Code Quality report: a JSON array of issues.
[[nodiscard]] ReportWriter NewGitlabWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

// JUnit's XML, in the shape that Jenkins, GitLab and GitHub's actions read: a case for
// each test, with the gate's failure inside it, as GoogleTest's own is. What suites and
// the program left behind are cases of their own. A run at a time is kept.
[[nodiscard]] ReportWriter NewJunitWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

// A summary for a pull request's comment or a job's summary page: the verdict, the tests
// over budget, the call stacks folded away. Short enough for a comment, however much
// was found.
[[nodiscard]] ReportWriter NewMarkdownWriter(std::ostream& out,
                                             const ReportSurroundings& surroundings);

// A gzipped profile.proto, for pprof: the outstanding blocks, without the framework's
// own, as inuse_objects and inuse_space, labelled by test, component and disposition.
[[nodiscard]] ReportWriter NewPprofWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

// SARIF 2.1.0, for code scanning: a result for each issue, known again by its symbolic
// call site when lines move. All runs are one run of SARIF, with an invocation each, as
// GitHub takes one run of a tool in a file.
[[nodiscard]] ReportWriter NewSarifWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

// speedscope's own file format: the outstanding blocks, without the framework's own, as
// one profile of bytes and one of blocks.
[[nodiscard]] ReportWriter NewSpeedscopeWriter(std::ostream& out,
                                               const ReportSurroundings& surroundings);

}  // namespace leakgate
