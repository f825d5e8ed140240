#include "runner/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "runner/cli/budget_options.h"
#include "runner/cli/help_text.h"
#include "runner/cli/one_line.h"
#include "runner/cli/result_options.h"
#include "runner/cli/split_arguments.h"
#include "runner/cli/version.h"

namespace leakgate {
namespace {

// As CLI11 has them, before they are checked.
struct RawRun {
  std::vector<std::string> budgets;
  std::vector<std::string> reports;
  std::string baseline;
  std::optional<std::string> timeout;
  std::optional<std::string> stack_depth;
  std::optional<std::string> confirm;
  std::optional<std::string> confirm_test_timeout;
  std::optional<std::string> confirm_run_timeout;
  std::optional<std::string> skip_exit_code;
  bool prints_measurements = false;
  bool is_strict = false;
  bool is_warn_only = false;
  bool is_quiet = false;
  bool is_verbose = false;
};

void AddRunOptions(CLI::App& run, RawRun& raw) {
  run.add_option("--budgets", raw.budgets)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run.add_option("--report", raw.reports)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run.add_option("--baseline", raw.baseline);
  run.add_option("--timeout", raw.timeout);
  run.add_option("--stack-depth", raw.stack_depth);
  run.add_option("--confirm", raw.confirm);
  run.add_option("--confirm-test-timeout", raw.confirm_test_timeout);
  run.add_option("--confirm-run-timeout", raw.confirm_run_timeout);
  run.add_option("--skip-exit-code", raw.skip_exit_code);
  run.add_flag("--ctest-measurements", raw.prints_measurements);
  run.add_flag("--strict", raw.is_strict);
  run.add_flag("--warn-only", raw.is_warn_only);
  run.add_flag("-q,--quiet", raw.is_quiet);
  run.add_flag("-v,--verbose", raw.is_verbose);
}

Expected<std::chrono::milliseconds> ParseTimeout(std::string_view option, const std::string& text) {
  constexpr double kMostSeconds = 1e9;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  const bool is_number = error == std::errc() && rest == end;
  if (is_number && seconds > 0 && seconds <= kMostSeconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
  }
  return UsageError(
      fmt::format("{0} '{1}': not a number of seconds above 0; write for example {0} 60 or {0} 0.5",
                  option, text));
}

Expected<Confirm> ParseConfirm(const std::string& text) {
  if (text == "after") return Confirm::kAfter;
  if (text == "inline") return Confirm::kInline;
  if (text == "off") return Confirm::kOff;
  return UsageError(
      fmt::format("--confirm '{}': no such way; write --confirm=after, inline or off", text));
}

Expected<std::uint32_t> ParseStackDepth(const std::string& text) {
  std::uint32_t frames = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, frames);
  const bool is_number = error == std::errc() && rest == end;
  if (is_number && frames >= 1 && frames <= kMaxStackDepth) return frames;
  return UsageError(
      fmt::format("--stack-depth '{}': not a number of frames from 1 to {}; write for example "
                  "--stack-depth 512",
                  text, kMaxStackDepth));
}

// 1 to 3 have meanings of leakgate's own, and shells tell signals from 128 on.
Expected<int> ParseSkipExitCode(const std::string& text) {
  int code = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, code);
  if (error == std::errc() && rest == end && code >= 4 && code <= 127) return code;
  return UsageError(fmt::format(
      "--skip-exit-code '{}': not a number from 4 to 127; write for example --skip-exit-code 77",
      text));
}

Expected<void> ReadGating(const RawRun& raw, RunRequest& request) {
  if (raw.is_strict && raw.is_warn_only) {
    return UsageError("--strict and --warn-only contradict each other; leave one out");
  }
  if (raw.is_strict) request.mode = GateMode::kStrict;
  if (raw.is_warn_only) request.mode = GateMode::kWarnOnly;
  if (raw.confirm) {
    const Expected<Confirm> confirm = ParseConfirm(*raw.confirm);
    if (!confirm) return Unexpected(confirm.error());
    request.confirm = *confirm;
  }
  const auto read_timeout = [](std::string_view option, const std::optional<std::string>& text,
                               std::chrono::milliseconds& timeout) -> Expected<void> {
    if (!text) return {};
    const Expected<std::chrono::milliseconds> parsed = ParseTimeout(option, *text);
    if (!parsed) return Unexpected(parsed.error());
    timeout = *parsed;
    return {};
  };
  Expected<void> read =
      read_timeout("--confirm-test-timeout", raw.confirm_test_timeout, request.confirmation.test);
  if (!read) return read;
  return read_timeout("--confirm-run-timeout", raw.confirm_run_timeout, request.confirmation.run);
}

Expected<SummaryDetail> ReadDetail(const RawRun& raw) {
  if (raw.is_quiet && raw.is_verbose) {
    return UsageError("--quiet and --verbose contradict each other; leave one out");
  }
  if (raw.is_quiet) return SummaryDetail::kQuiet;
  return raw.is_verbose ? SummaryDetail::kVerbose : SummaryDetail::kNormal;
}

Expected<Command> MakeRunCommand(const RawRun& raw, const std::vector<std::string>& program) {
  if (program.empty() || program.front().empty()) {
    return UsageError("no program to run; write it after two dashes: leakgate run -- BINARY");
  }
  RunCommand command;
  command.request.program = program.front();
  command.request.arguments.assign(program.begin() + 1, program.end());
  command.request.budgets.assign(raw.budgets.begin(), raw.budgets.end());
  command.baseline = raw.baseline;
  if (raw.timeout) {
    const Expected<std::chrono::milliseconds> timeout = ParseTimeout("--timeout", *raw.timeout);
    if (!timeout) return Unexpected(timeout.error());
    command.request.timeout = *timeout;
  }
  if (raw.stack_depth) {
    const Expected<std::uint32_t> depth = ParseStackDepth(*raw.stack_depth);
    if (!depth) return Unexpected(depth.error());
    command.request.stack_depth = *depth;
  }
  if (const Expected<void> read = ReadGating(raw, command.request); !read) {
    return Unexpected(read.error());
  }
  if (raw.skip_exit_code) {
    const Expected<int> code = ParseSkipExitCode(*raw.skip_exit_code);
    if (!code) return Unexpected(code.error());
    command.skip_exit_code = *code;
  }
  const Expected<SummaryDetail> detail = ReadDetail(raw);
  if (!detail) return Unexpected(detail.error());
  command.detail = *detail;
  command.prints_measurements = raw.prints_measurements;
  for (const std::string& text : raw.reports) {
    Expected<ReportRequest> report = ParseReportRequest(text);
    if (!report) return Unexpected(report.error());
    command.reports.push_back(*std::move(report));
  }
  return Command(std::move(command));
}

Expected<Command> MakeDoctorCommand(std::vector<std::string> named,
                                    const std::vector<std::string>& behind_dashes) {
  named.insert(named.end(), behind_dashes.begin(), behind_dashes.end());
  if (named.empty() || named.front().empty()) {
    return UsageError("no program to examine; name the test binary: leakgate doctor BINARY");
  }
  return Command(DoctorCommand{named.front(), {named.begin() + 1, named.end()}});
}

// What the parser could not place: the first such argument tells the mistake.
// `command`: "run", or none.
std::string StrayArgumentText(const std::string& argument, const std::string& command) {
  if (argument.starts_with("-")) {
    return fmt::format("unknown option '{}'; see leakgate{}{} --help", argument,
                       command.empty() ? "" : " ", command);
  }
  if (command != "run") return fmt::format("unknown command '{}'; see leakgate --help", argument);
  return fmt::format(
      "unexpected argument '{0}'; the program goes after two dashes: leakgate run "
      "-- {0}",
      argument);
}

}  // namespace

Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments) {
  if (IsBudgetCommandLine(arguments)) return ParseBudgetCommandLine(arguments);
  if (IsResultCommandLine(arguments)) return ParseResultCommandLine(arguments);
  CLI::App app;
  app.set_version_flag("--version", VersionText());
  app.require_subcommand(0, 1);
  app.allow_extras();
  RawRun raw;
  CLI::App* const run = app.add_subcommand("run")->allow_extras();
  AddRunOptions(*run, raw);
  CLI::App* const doctor = app.add_subcommand("doctor")->allow_extras();
  std::vector<std::string> examined;
  doctor->add_option("binary", examined);
  CLI::App* const framework = app.add_subcommand("framework")->allow_extras();

  SplitArguments split = Split(arguments);
  std::reverse(split.options.begin(), split.options.end());  // as CLI11 wants them
  try {
    app.parse(split.options);
  } catch (const CLI::CallForVersion& version) {
    return Command(PrintCommand{std::string(version.what()) + "\n"});
  } catch (const CLI::CallForHelp&) {
    if (doctor->parsed()) return Command(PrintCommand{DoctorHelpText()});
    return Command(PrintCommand{run->parsed() ? RunHelpText() : HelpText()});
  } catch (const CLI::ParseError& error) {
    return UsageError(fmt::format("{}; see leakgate --help", OneLine(error.what())));
  }
  const std::vector<std::string> stray = app.remaining(true);
  if (!stray.empty()) {
    const std::string command = run->parsed() ? "run" : doctor->parsed() ? "doctor" : "";
    return UsageError(StrayArgumentText(stray.front(), command));
  }
  if (run->parsed()) return MakeRunCommand(raw, split.program);
  if (doctor->parsed()) return MakeDoctorCommand(std::move(examined), split.program);
  if (!framework->parsed()) {
    return UsageError(
        "no command; to run a test binary: leakgate run -- BINARY; see leakgate --help");
  }
  if (split.program.empty()) return Command(FrameworkCommand{});
  return UsageError("the command 'framework' runs no program; leave out what follows --");
}

}  // namespace leakgate
