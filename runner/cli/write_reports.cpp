#include "runner/cli/write_reports.h"

#include <cstdlib>
#include <filesystem>

#include "runner/cli/installation.h"
#include "runner/report/formats/source_file.h"
#include "runner/report/formats/writers.h"

namespace leakgate {
namespace {

std::string EnvironmentText(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsStepSummary(const std::filesystem::path& path) {
  const std::string summary = EnvironmentText("GITHUB_STEP_SUMMARY");
  return !summary.empty() && path == summary;
}

// What there is to write, the same for each format.
struct Contents {
  const RunResult& run;
  const std::vector<RunResult>& baseline;
  ReportSurroundings surroundings;
};

Expected<void> WriteReport(const ReportRequest& report, const Contents& contents) {
  Expected<AtomicFile> file = OpenReport(report);
  if (!file) return Unexpected(file.error());
  const ReportWriter writer = NewReportWriter(report.format, file->out(), contents.surroundings);
  if (writer.add_baseline) {
    for (const RunResult& run : contents.baseline) writer.add_baseline(run);
  }
  writer.add(contents.run);
  writer.finish();
  return file->Commit();
}

}  // namespace

ReportSurroundings SurroundingsOfThisProcess() {
  for (const char* const name : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const std::string root = EnvironmentText(name);
    if (root.starts_with('/')) return {root, VersionNumber()};
  }
  std::error_code error;
  return {std::filesystem::current_path(error).string(), VersionNumber()};
}

Expected<AtomicFile> OpenReport(const ReportRequest& report) {
  const bool appends = report.format == ReportFormat::kMarkdown && IsStepSummary(report.path);
  return appends ? AtomicFile::Append(report.path) : AtomicFile::Create(report.path);
}

Expected<ReadSource> OwnSources(const std::filesystem::path& root) {
  return root.empty() ? ReadSource(ReadSourceFile) : SourcesBelow(root);
}

Expected<void> WriteReports(const std::vector<ReportRequest>& reports, const RunResult& result,
                            const std::vector<RunResult>& baseline, const ReadSource& read_source) {
  if (reports.empty()) return {};
  Contents contents = {result, baseline, SurroundingsOfThisProcess()};
  contents.surroundings.read_source = read_source;
  Expected<void> outcome;
  for (const ReportRequest& report : reports) {
    const Expected<void> written = WriteReport(report, contents);
    if (!written && outcome) outcome = written;
  }
  return outcome;
}

}  // namespace leakgate
