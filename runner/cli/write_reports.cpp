#include "runner/cli/write_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "runner/base/path_text.h"
#include "runner/cli/installation.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/report/formats/writers.h"
#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

std::optional<std::string> VariableOf(const RunNaming& surroundings, std::string_view name) {
  for (const std::string& variable : surroundings.environment) {
    const std::size_t equals = variable.find('=');
    if (std::string_view(variable).substr(0, equals) == name && equals != std::string::npos) {
      return variable.substr(equals + 1);
    }
  }
  return std::nullopt;
}

Expected<std::string> ValueOf(std::string_view name, const std::filesystem::path& path,
                              const RunNaming& surroundings) {
  constexpr std::string_view kVariable = "env:";
  if (name == "pid") return std::to_string(surroundings.pid);
  if (name == "binary") return FileNameIn(surroundings.program);
  if (name == "shard") return VariableOf(surroundings, kShardIndexVariable).value_or("0");
  if (name == "outputs")
    return VariableOf(surroundings, "TEST_UNDECLARED_OUTPUTS_DIR").value_or(".");
  if (!name.starts_with(kVariable)) {
    return UsageError(fmt::format(
        "report file '{}': no placeholder '{{{}}}'; there are {{pid}}, {{binary}}, {{shard}}, "
        "{{outputs}} and {{env:NAME}}; a brace itself is '{{{{'",
        PathText(path), name));
  }
  const std::optional<std::string> value = VariableOf(surroundings, name.substr(kVariable.size()));
  if (value && !value->empty()) return *value;
  return UsageError(
      fmt::format("report file '{}': the environment has no {}; set it, or name the "
                  "file otherwise",
                  PathText(path), name.substr(kVariable.size())));
}

std::string EnvironmentText(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsStepSummary(const std::filesystem::path& path) {
  const std::string summary = EnvironmentText("GITHUB_STEP_SUMMARY");
  return !summary.empty() && path == summary;
}

// The values that each format writes.
struct Contents {
  const RunResult& run;
  const std::vector<RunResult>& baseline;
  ReportSurroundings surroundings;
};

Expected<void> WriteReport(const ReportRequest& report, const Contents& contents) {
  LEAKGATE_TRY_ASSIGN(AtomicFile file, OpenReport(report));
  const ReportWriter writer = NewReportWriter(report.format, file.out(), contents.surroundings);
  if (writer.add_baseline) {
    for (const RunResult& run : contents.baseline) writer.add_baseline(run);
  }
  writer.add(contents.run);
  writer.finish();
  return file.Commit();
}

}  // namespace

Expected<std::filesystem::path> ExpandReportPath(const std::filesystem::path& path,
                                                 const RunNaming& surroundings) {
  const std::string text = PathText(path);
  std::string expanded;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      expanded += text[at++];
      continue;
    }
    if (text.compare(at, 2, "{{") == 0) {
      expanded += '{';
      at += 2;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) {
      return UsageError(
          fmt::format("report file '{}': a '{{' without a '}}'; a brace itself is '{{{{'", text));
    }
    LEAKGATE_TRY_ASSIGN(
        const std::string value,
        ValueOf(std::string_view(text).substr(at + 1, end - at - 1), path, surroundings));
    expanded += value;
    at = end + 1;
  }
  return PathOf(expanded);
}

ReportSurroundings SurroundingsOfThisProcess() {
  for (const char* const name : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const std::string root = EnvironmentText(name);
    if (IsAbsolutePath(root)) return {WithSlashes(root), VersionNumber()};
  }
  std::error_code error;
  return {PathText(std::filesystem::current_path(error)), VersionNumber()};
}

Expected<AtomicFile> OpenReport(const ReportRequest& report) {
  const bool appends = report.format == ReportFormat::kMarkdown && IsStepSummary(report.path);
  return appends ? AtomicFile::Append(report.path) : AtomicFile::Create(report.path);
}

Expected<ReadSource> OwnSources(const std::filesystem::path& root) {
  return root.empty() ? ReadSource(ReadSourceFile) : SourcesBelow(root);
}

bool HasPage(const std::vector<ReportRequest>& reports) {
  return std::any_of(reports.begin(), reports.end(), [](const ReportRequest& report) {
    return report.format == ReportFormat::kHtml;
  });
}

Expected<void> CheckReportsDiffer(const std::vector<ReportRequest>& reports) {
  std::set<std::filesystem::path> seen;
  for (const ReportRequest& report : reports) {
    std::error_code error;
    const bool is_file = !std::filesystem::exists(report.path, error) ||
                         std::filesystem::is_regular_file(report.path, error);
    const bool is_appended = report.format == ReportFormat::kMarkdown && IsStepSummary(report.path);
    if (!is_file || is_appended) continue;
    if (seen.insert(std::filesystem::weakly_canonical(report.path, error)).second) continue;
    return UsageError(fmt::format("--report {}: another report has that file; name one of its own",
                                  PathText(report.path)));
  }
  return {};
}

Expected<void> CheckHistoryIsShown(const std::filesystem::path& history,
                                   const std::vector<ReportRequest>& reports) {
  if (history.empty() || HasPage(reports)) return {};
  return UsageError(fmt::format(
      "--history {}: only the HTML report shows earlier results; add --report html=FILE",
      PathText(history)));
}

Expected<void> WriteReports(const std::vector<ReportRequest>& reports, const RunResult& result,
                            const PageContents& page) {
  if (reports.empty()) return {};
  Contents contents = {result, page.baseline, SurroundingsOfThisProcess()};
  contents.surroundings.read_source = page.read_source;
  contents.surroundings.history = page.history;
  Expected<void> outcome;
  for (const ReportRequest& report : reports) {
    const Expected<void> written = WriteReport(report, contents);
    if (!written && outcome) outcome = written;
  }
  return outcome;
}

}  // namespace leakgate
