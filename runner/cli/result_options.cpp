#include "runner/cli/result_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "runner/cli/one_line.h"
#include "runner/cli/result_help.h"
#include "runner/cli/split_arguments.h"

namespace leakgate {
namespace {

using Paths = std::vector<std::filesystem::path>;

// As CLI11 has them, before they are checked.
struct RawResults {
  std::vector<std::string> results;
  std::vector<std::string> reports;
  std::string output;
  std::optional<std::string> expected;
  std::string database;
  std::string commit;
  std::optional<std::string> time;
  std::optional<std::string> component;
  std::optional<std::string> test;
  bool by_component = false;
  bool by_test = false;
  bool by_call_site = false;
  bool is_json = false;
};

struct Parser {
  explicit Parser(RawResults& raw) {
    app.require_subcommand(0, 1);
    history->require_subcommand(0, 1);
    merge->add_option("results", raw.results);
    merge->add_option("-o,--output", raw.output);
    merge->add_option("--expect,--expect-shards", raw.expected);
    merge->add_option("--report", raw.reports)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add->add_option("database", raw.database);
    add->add_option("results", raw.results);
    add->add_option("--commit", raw.commit);
    add->add_option("--time", raw.time);
    show->add_option("database", raw.database);
    show->add_option("--component", raw.component);
    show->add_option("--test", raw.test);
    show->add_flag("--json", raw.is_json);
    trend->add_option("database", raw.database);
    trend->add_flag("--component", raw.by_component);
    trend->add_flag("--test", raw.by_test);
    trend->add_flag("--call-site", raw.by_call_site);
    trend->add_flag("--json", raw.is_json);
  }

  CLI::App app;
  CLI::App* merge = app.add_subcommand("merge");
  CLI::App* history = app.add_subcommand("history");
  CLI::App* add = history->add_subcommand("add");
  CLI::App* show = history->add_subcommand("show");
  CLI::App* trend = history->add_subcommand("trend");
};

Expected<std::int64_t> ParseExpected(const std::string& text) {
  std::int64_t runs = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, runs);
  if (error == std::errc() && rest == end && runs > 0) return runs;
  return UsageError(fmt::format(
      "--expect '{}': not a number of runs above 0; write for example --expect 4", text));
}

Expected<Command> MakeMerge(const RawResults& raw) {
  MergeCommand command;
  command.results = Paths(raw.results.begin(), raw.results.end());
  if (command.results.empty()) {
    return UsageError("no results to merge; name reports or directories: leakgate merge RESULTS");
  }
  if (raw.expected) {
    const Expected<std::int64_t> expected = ParseExpected(*raw.expected);
    if (!expected) return Unexpected(expected.error());
    command.expected = *expected;
  }
  if (!raw.output.empty()) command.reports.push_back({ReportFormat::kJson, raw.output});
  for (const std::string& text : raw.reports) {
    Expected<ReportRequest> report = ParseReportRequest(text);
    if (!report) return Unexpected(report.error());
    command.reports.push_back(*std::move(report));
  }
  return Command(std::move(command));
}

HistoryOutput OutputOf(const RawResults& raw) {
  return raw.is_json ? HistoryOutput::kJson : HistoryOutput::kText;
}

Expected<Command> MakeTrend(const RawResults& raw) {
  if (raw.by_component + raw.by_test + raw.by_call_site > 1) {
    return UsageError("--component, --test and --call-site exclude each other; leave two out");
  }
  const TrendOf of = raw.by_test        ? TrendOf::kTest
                     : raw.by_call_site ? TrendOf::kCallSite
                                        : TrendOf::kComponent;
  return Command(HistoryTrendCommand{raw.database, of, OutputOf(raw)});
}

Expected<Command> MakeHistory(const Parser& parser, const RawResults& raw) {
  if (!parser.add->parsed() && !parser.show->parsed() && !parser.trend->parsed()) {
    return UsageError("no command; there are add, show and trend; see leakgate history --help");
  }
  if (raw.database.empty()) {
    return UsageError("no history; name its file: leakgate history show leaks.sqlite");
  }
  if (parser.trend->parsed()) return MakeTrend(raw);
  if (parser.show->parsed()) {
    return Command(HistoryShowCommand{raw.database, raw.component, raw.test, OutputOf(raw)});
  }
  if (raw.results.empty()) {
    return UsageError("no results to add; name them: leakgate history add leaks.sqlite RESULTS");
  }
  return Command(HistoryAddCommand{raw.database, Paths(raw.results.begin(), raw.results.end()),
                                   raw.commit, raw.time});
}

}  // namespace

bool IsResultCommandLine(const std::vector<std::string>& arguments) {
  return !arguments.empty() && (arguments[0] == "merge" || arguments[0] == "history");
}

Expected<Command> ParseResultCommandLine(const std::vector<std::string>& arguments) {
  RawResults raw;
  Parser parser(raw);
  SplitArguments split = Split(arguments);
  // Nothing is run, so what follows two dashes is a path as any other.
  for (const std::string& path : split.program) {
    split.options.push_back(path.starts_with('-') ? "./" + path : path);
  }
  std::reverse(split.options.begin(), split.options.end());  // as CLI11 wants them
  try {
    parser.app.parse(split.options);
  } catch (const CLI::CallForHelp&) {
    return Command(PrintCommand{parser.merge->parsed() ? MergeHelpText() : HistoryHelpText()});
  } catch (const CLI::ParseError& error) {
    return UsageError(
        fmt::format("{}; see leakgate {} --help", OneLine(error.what()), arguments[0]));
  }
  if (parser.merge->parsed()) return MakeMerge(raw);
  return MakeHistory(parser, raw);
}

}  // namespace leakgate
