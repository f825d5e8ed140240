// Makes the writer of each report format. A writer writes to `out`, which must outlive it; the
// same runs give the same bytes.
#pragma once

#include <memory>
#include <ostream>

#include "runner/report/report_format.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewReportWriter(ReportFormat format, std::ostream& out,
                                           const ReportSurroundings& surroundings = {});

// Writes GitHub's workflow commands: an annotation for each issue, where the memory was allocated.
[[nodiscard]] ReportWriter NewGithubWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

// Writes GitLab's Code Quality report: a JSON array of issues.
[[nodiscard]] ReportWriter NewGitlabWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

// Writes JUnit's XML, in the shape that Jenkins, GitLab and GitHub's actions read: a case for
// each test, with the gate's failure inside it, as GoogleTest's own is. What suites and
// the program left behind are cases of their own. The writer keeps one run at a time.
[[nodiscard]] ReportWriter NewJunitWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

// Writes a summary for a pull request's comment or a job's summary page: the verdict, the tests
// over budget, the call stacks folded away. It is short enough for a comment, however much
// was found.
[[nodiscard]] ReportWriter NewMarkdownWriter(std::ostream& out,
                                             const ReportSurroundings& surroundings);

// Writes SARIF 2.1.0, for code scanning: a result for each issue. Its symbolic call site
// identifies it when lines move. All runs are one run of SARIF, with an invocation each, because
// GitHub takes one run of a tool in a file.
[[nodiscard]] ReportWriter NewSarifWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

// Makes a ReportWriter from a class with Add(RunResult) and Finish(), constructed with the
// stream and the surroundings.
template <typename Writer>
ReportWriter MakeWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  const auto writer = std::make_shared<Writer>(out, surroundings);
  return {.add_baseline = {},
          .add = [writer](const RunResult& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

}  // namespace leakgate
