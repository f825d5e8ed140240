#include "runner/cli/write_reports.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runner/cli/version.h"
#include "runner/report/json_report.h"

namespace leakgate {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsStepSummary(const std::filesystem::path& path) {
  const std::string summary = Variable("GITHUB_STEP_SUMMARY");
  return !summary.empty() && path == summary;
}

}  // namespace

ReportSurroundings SurroundingsOfThisProcess() {
  for (const char* const name : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const std::string root = Variable(name);
    if (root.starts_with('/')) return {root, VersionNumber()};
  }
  std::error_code error;
  return {std::filesystem::current_path(error).string(), VersionNumber()};
}

Expected<void> WriteReports(const std::vector<ReportRequest>& reports, const RunResult& result) {
  if (reports.empty()) return {};
  const nlohmann::ordered_json run = ToRunReport(result);
  const ReportSurroundings surroundings = SurroundingsOfThisProcess();
  Expected<void> outcome;
  for (const ReportRequest& report : reports) {
    std::ostringstream text;
    const ReportWriter writer = NewReportWriter(report.format, text, surroundings);
    writer.add(run);
    writer.finish();
    const bool appends = report.format == ReportFormat::kMarkdown && IsStepSummary(report.path);
    const Expected<void> written = appends ? AppendToFile(report.path, text.str())
                                           : WriteFileAtomically(report.path, text.str());
    if (!written && outcome) outcome = written;
  }
  return outcome;
}

}  // namespace leakgate
