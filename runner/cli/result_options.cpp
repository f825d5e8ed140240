#include "runner/cli/result_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "runner/cli/progress_option.h"
#include "runner/cli/repeatable_option.h"

namespace leakgate {
namespace {

using Paths = std::vector<std::filesystem::path>;

Expected<std::int64_t> ParseExpected(const std::string& text) {
  std::int64_t runs = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, runs);
  if (error == std::errc() && rest == end && runs > 0) return runs;
  return UsageError(fmt::format(
      "--expect '{}': not a number of runs above 0; write for example --expect 4", text));
}

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

ResultOptions::ResultOptions(CLI::App& app)
    : merge_(app.add_subcommand("merge")),
      history_(app.add_subcommand("history")->require_subcommand(0, 1)),
      add_(history_->add_subcommand("add")),
      show_(history_->add_subcommand("show")),
      trend_(history_->add_subcommand("trend")) {
  AddMerge();
  AddHistory();
}

void ResultOptions::AddMerge() {
  merge_->add_option("results", raw_.results)->type_name("RESULT");
  merge_->add_option("-o,--output", raw_.output, "Write the merged report; as --report json=FILE")
      ->type_name("FILE");
  Repeatable(
      merge_->add_option("--report", raw_.reports,
                         "Write a report of all runs, in a format of leakgate run's. Repeatable"),
      "FORMAT=FILE");
  merge_
      ->add_option("--expect,--expect-shards", raw_.expected,
                   "Inconclusive if there are fewer than N runs. What GTEST_TOTAL_SHARDS told of "
                   "each run is checked anyway")
      ->type_name("N");
  merge_
      ->add_option("--baseline", raw_.baseline,
                   "Compare with this earlier JSON report, of one run or merged, in the HTML "
                   "report. Verdicts stay the runs' own")
      ->type_name("REPORT");
  merge_
      ->add_option("--source-root", raw_.source_root,
                   "Quote the source lines of files below DIR in the HTML report. Without it, none "
                   "are: results name files, and may come from anywhere")
      ->type_name("DIR");
  AddProgressOption(*merge_, raw_.progress);
}

void ResultOptions::AddHistory() {
  for (CLI::App* const command : {add_, show_, trend_}) {
    command->add_option("database", raw_.database)->type_name("DB");
  }
  add_->add_option("results", raw_.results)->type_name("RESULT");
  add_->add_option("--commit", raw_.commit, "What was tested. Default: not known")
      ->type_name("SHA");
  add_->add_option("--time", raw_.time, "When, as 2026-01-31T12:00:00Z. Default: now")
      ->type_name("TIME");
  show_->add_option("--component", raw_.component, "Only findings of this component")
      ->type_name("NAME");
  show_->add_option("--test", raw_.test, "Only those of this test")->type_name("NAME");
  trend_->add_flag("--component", raw_.by_component, "By component (default)");
  trend_->add_flag("--test", raw_.by_test, "By test");
  trend_->add_flag("--call-site", raw_.by_call_site, "By call site");
  for (CLI::App* const command : {show_, trend_}) {
    command->add_flag("--json", raw_.is_json, "For machines");
  }
}

Expected<Command> ResultOptions::MakeMerge() const {
  MergeCommand command;
  command.results = Paths(raw_.results.begin(), raw_.results.end());
  if (command.results.empty()) {
    return UsageError("no results to merge; name reports or directories: leakgate merge RESULTS");
  }
  if (raw_.expected) {
    const Expected<std::int64_t> expected = ParseExpected(*raw_.expected);
    if (!expected) return Unexpected(expected.error());
    command.expected = *expected;
  }
  const Expected<ProgressMode> progress = ParseProgress(raw_.progress);
  if (!progress) return Unexpected(progress.error());
  command.progress = *progress;
  if (!raw_.output.empty()) command.reports.push_back({ReportFormat::kJson, raw_.output});
  for (const std::string& text : raw_.reports) {
    Expected<ReportRequest> report = ParseReportRequest(text);
    if (!report) return Unexpected(report.error());
    command.reports.push_back(*std::move(report));
  }
  command.baseline = raw_.baseline;
  command.source_root = raw_.source_root;
  if (Expected<void> checked = CheckBaseline(command); !checked) {
    return Unexpected(checked.error());
  }
  return Command(std::move(command));
}

HistoryOutput ResultOptions::Output() const {
  return raw_.is_json ? HistoryOutput::kJson : HistoryOutput::kText;
}

Expected<Command> ResultOptions::MakeTrend() const {
  if (raw_.by_component + raw_.by_test + raw_.by_call_site > 1) {
    return UsageError("--component, --test and --call-site exclude each other; leave two out");
  }
  const TrendOf of = raw_.by_test        ? TrendOf::kTest
                     : raw_.by_call_site ? TrendOf::kCallSite
                                         : TrendOf::kComponent;
  return Command(HistoryTrendCommand{raw_.database, of, Output()});
}

Expected<Command> ResultOptions::MakeHistory() const {
  if (!add_->parsed() && !show_->parsed() && !trend_->parsed()) {
    return UsageError("no command; there are add, show and trend; see leakgate history --help");
  }
  if (raw_.database.empty()) {
    return UsageError("no history; name its file: leakgate history show leaks.sqlite");
  }
  if (trend_->parsed()) return MakeTrend();
  if (show_->parsed()) {
    return Command(HistoryShowCommand{raw_.database, raw_.component, raw_.test, Output()});
  }
  if (raw_.results.empty()) {
    return UsageError("no results to add; name them: leakgate history add leaks.sqlite RESULTS");
  }
  return Command(HistoryAddCommand{raw_.database, Paths(raw_.results.begin(), raw_.results.end()),
                                   raw_.commit, raw_.time});
}

Expected<Command> ResultOptions::Make() const {
  return merge_->parsed() ? MakeMerge() : MakeHistory();
}

bool IsResultCommandLine(const std::vector<std::string>& arguments) {
  return !arguments.empty() && (arguments[0] == "merge" || arguments[0] == "history");
}

}  // namespace leakgate
