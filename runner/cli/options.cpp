#include "runner/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "runner/cli/version.h"

namespace leakgate {
namespace {

// What stands before `--`, and the program with its arguments behind it.
struct SplitArguments {
  std::vector<std::string> options;
  std::vector<std::string> program;
};

SplitArguments Split(const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  SplitArguments split{{arguments.begin(), dashes}, {}};
  if (dashes != arguments.end()) split.program.assign(dashes + 1, arguments.end());
  return split;
}

// As CLI11 has them, before they are checked.
struct RawRun {
  std::vector<std::string> budgets;
  std::vector<std::string> reports;
  double timeout_seconds = 0;
};

void AddRunOptions(CLI::App& run, RawRun& raw) {
  run.add_option("--budgets", raw.budgets,
                 "A budget file, or a directory: all *.leakgate.json below it (repeatable)")
      ->option_text("FILE|DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run.add_option("--report", raw.reports, "Write a report; formats: json (repeatable)")
      ->option_text("FORMAT=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run.add_option("--timeout", raw.timeout_seconds,
                 "End the program and all that it started after so many seconds")
      ->option_text("SECONDS")
      ->check(CLI::PositiveNumber);
  run.footer(
      "-- BINARY [ARGS...]   the GoogleTest binary, or any other program, and its arguments\n\n"
      "Exit code: the program's own if it is not 0 (128+n for signal n); else\n"
      "  0 within budget   1 over budget   2 usage   3 could not be measured");
}

Expected<Command> MakeRunCommand(const RawRun& raw, const std::vector<std::string>& program) {
  if (program.empty() || program.front().empty()) {
    return UsageError("no program to run; write it after two dashes: leakgate run -- BINARY");
  }
  RunCommand command;
  command.request.program = program.front();
  command.request.arguments.assign(program.begin() + 1, program.end());
  command.request.budgets.assign(raw.budgets.begin(), raw.budgets.end());
  if (raw.timeout_seconds > 0) {
    command.request.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(raw.timeout_seconds * 1000));
  }
  for (const std::string& text : raw.reports) {
    Expected<ReportRequest> report = ParseReportRequest(text);
    if (!report) return Unexpected(report.error());
    command.reports.push_back(*std::move(report));
  }
  return Command(std::move(command));
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app("leakgate: a leak gate for GoogleTest suites", "leakgate");
  app.set_version_flag("--version", VersionText());
  app.require_subcommand(1);
  RawRun raw;
  CLI::App* const run = app.add_subcommand("run", "Run a program, gated test by test");
  AddRunOptions(*run, raw);
  CLI::App* const framework =
      app.add_subcommand("framework", "Show what is counted as the test framework's own memory");

  SplitArguments split = Split(arguments);
  std::reverse(split.options.begin(), split.options.end());  // as CLI11 wants them
  try {
    app.parse(split.options);
  } catch (const CLI::CallForVersion& version) {
    return Command(PrintCommand{std::string(version.what()) + "\n"});
  } catch (const CLI::CallForHelp&) {
    return Command(PrintCommand{(run->parsed() ? run : &app)->help()});
  } catch (const CLI::ParseError& error) {
    return UsageError(fmt::format("{}; see leakgate --help", OneLine(error.what())));
  }
  if (framework->parsed()) return Command(FrameworkCommand{});
  return MakeRunCommand(raw, split.program);
}

}  // namespace leakgate
