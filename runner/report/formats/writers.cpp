#include "runner/report/formats/writers.h"

#include "runner/report/formats/html_writer.h"
#include "runner/report/formats/stack_samples.h"
#include "runner/report/json/json_report.h"

namespace leakgate {

ReportWriter NewReportWriter(ReportFormat format, std::ostream& out,
                             const ReportSurroundings& surroundings) {
  switch (format) {
    case ReportFormat::kJson:
      return NewJsonWriter(out, surroundings.runs);
    case ReportFormat::kJunit:
      return NewJunitWriter(out, surroundings);
    case ReportFormat::kSarif:
      return NewSarifWriter(out, surroundings);
    case ReportFormat::kGithub:
      return NewGithubWriter(out, surroundings);
    case ReportFormat::kGitlab:
      return NewGitlabWriter(out, surroundings);
    case ReportFormat::kMarkdown:
      return NewMarkdownWriter(out, surroundings);
    case ReportFormat::kFolded:
      return ProfileOfRuns(NewFoldedProfile(out));
    case ReportFormat::kPprof:
      return ProfileOfRuns(NewPprofProfile(out, surroundings));
    case ReportFormat::kSpeedscope:
      return ProfileOfRuns(NewSpeedscopeProfile(out, surroundings, "outstanding"));
    case ReportFormat::kHtml:
      return NewHtmlWriter(out, surroundings.read_source, surroundings.history);
  }
  return NewJsonWriter(out, surroundings.runs);
}

}  // namespace leakgate
