#include "runner/cli/commands/merge_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/cli/app/option_values.h"

namespace leakgate {
namespace {

// Verdicts are the runs' own: where nothing compares, a baseline would seem to gate.
Expected<void> CheckBaseline(const MergeCommand& command) {
  const auto is_page = [](const ReportRequest& report) {
    return report.format == ReportFormat::kHtml;
  };
  if (command.baseline.empty() ||
      std::any_of(command.reports.begin(), command.reports.end(), is_page))
    return {};
  return UsageError(fmt::format(
      "--baseline {}: only the HTML report of a merge compares; add --report html=FILE, or "
      "give the baseline to leakgate run, which judges by it",
      command.baseline.string()));
}

}  // namespace

OptionValue ReportWord() { return {"FORMAT=FILE", ValueKind::kReport, FormatNames()}; }

Expected<ReportRequest> ParseReport(const std::string&, const std::string& text) {
  return ParseReportRequest(text);
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
  options.Add("--source-root", FileWord("DIR"), command.source_root,
              "Quote the source lines of files below DIR in the HTML report. Without it, none are: "
              "results name files, and may come from anywhere");
  AddProgress(command.progress, options);
}

Expected<void> Complete(MergeCommand& command, const ProgramLine&) {
  if (command.results.empty()) {
    return UsageError("no results to merge; name reports or directories: leakgate merge RESULTS");
  }
  return CheckBaseline(command);
}

}  // namespace leakgate
