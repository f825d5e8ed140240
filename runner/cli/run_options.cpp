#include "runner/cli/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "runner/cli/numbers.h"
#include "runner/cli/progress_option.h"
#include "runner/cli/repeatable_option.h"

namespace leakgate {
namespace {

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

}  // namespace

RunOptions::RunOptions(CLI::App& app) : run_(app.add_subcommand("run")->allow_extras()) {
  Repeatable(
      run_->add_option("--budgets", raw_.budgets,
                       "Read a budget file, or all *.leakgate.json below a directory. Where none "
                       "limits what a test may leave outstanding, it fails for what is lost, and "
                       "for what is retained and grows when the test is repeated. Repeatable"),
      "FILE|DIR");
  run_->add_option("--confirm", raw_.confirm,
                   "When to repeat tests that retain memory: after the program has ended "
                   "(default), inline (while the test waits), or off")
      ->type_name("WHEN");
  run_->add_option("--confirm-test-timeout", raw_.confirm_test_timeout,
                   "For the repetitions of one test. Default: 60")
      ->type_name("SECONDS");
  run_->add_option("--confirm-run-timeout", raw_.confirm_run_timeout,
                   "For those of all tests. Default: 300")
      ->type_name("SECONDS");
  run_->add_flag("--strict", raw_.is_strict,
                 "What is unconfirmed, and an allowance that nothing used, fail the run");
  run_->add_flag("--warn-only", raw_.is_warn_only, "Report, and fail nothing");
  Repeatable(
      run_->add_option(
          "--report", raw_.reports,
          fmt::format("Write a report. Formats: {}. Repeatable. FILE may hold {{pid}}, {{binary}}, "
                      "{{shard}}, {{outputs}} and {{env:NAME}}, so that many jobs write apart",
                      KnownFormats())),
      "FORMAT=FILE");
  run_->add_option("--baseline", raw_.baseline,
                   "Fail only for what this earlier JSON report, of one run or merged, has not. "
                   "What it has is counted as known")
      ->type_name("REPORT");
  run_->add_option("--source-root", raw_.source_root,
                   "In the HTML report, quote only source files below DIR. Default: all that debug "
                   "information names")
      ->type_name("DIR");
  run_->add_option("--snapshots", raw_.snapshots,
                   "Keep a snapshot of the begin and of the end of each test that is over budget, "
                   "for leakgate snapshot diff. The test waits while its blocks are copied")
      ->type_name("DIR");
  run_->add_option("--when", raw_.when, "Of --snapshots: over_budget (default) or every")
      ->type_name("WHICH");
  run_->add_option(
          "--timeout", raw_.timeout,
          "After so long, end the program and all that it started. Fractions are allowed: 0.5")
      ->type_name("SECONDS");
  run_->add_option("--stack-depth", raw_.stack_depth,
                   fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}. A "
                               "stack that is cut says so",
                               kMaxStackDepth, kDefaultStackDepth))
      ->type_name("FRAMES");
  run_->add_option("--skip-exit-code", raw_.skip_exit_code,
                   "Exit with CODE, 4 to 127, instead of 0 if no test ran, or all that did were "
                   "skipped: 77 for CTest's SKIP_RETURN_CODE, Meson and Automake. A program that "
                   "itself exits with CODE has failed: 1")
      ->type_name("CODE");
  run_->add_flag("--ctest-measurements", raw_.prints_measurements,
                 "Print on standard output what was outstanding, as CTest's measurements, which it "
                 "passes on to CDash");
  AddProgressOption(*run_, raw_.progress);
  run_->add_flag("-q,--quiet", raw_.is_quiet,
                 "Of the summary, only what is not a pass; nothing if all pass, and no progress "
                 "unless it is asked for. Errors are told anyway");
  run_->add_flag("-v,--verbose", raw_.is_verbose,
                 "Also what passed and by what evidence (replaced, freed later, one-time ...), and "
                 "the slowest and the heaviest tests. Without it, those that stand out");
}

Expected<void> RunOptions::ReadGating(RunRequest& request) const {
  if (raw_.is_strict && raw_.is_warn_only) {
    return UsageError("--strict and --warn-only contradict each other; leave one out");
  }
  if (raw_.is_strict) request.mode = GateMode::kStrict;
  if (raw_.is_warn_only) request.mode = GateMode::kWarnOnly;
  if (raw_.confirm) {
    const Expected<Confirm> confirm = ParseConfirm(*raw_.confirm);
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
      read_timeout("--confirm-test-timeout", raw_.confirm_test_timeout, request.confirmation.test);
  if (!read) return read;
  return read_timeout("--confirm-run-timeout", raw_.confirm_run_timeout, request.confirmation.run);
}

Expected<SummaryDetail> RunOptions::ReadDetail() const {
  if (raw_.is_quiet && raw_.is_verbose) {
    return UsageError("--quiet and --verbose contradict each other; leave one out");
  }
  if (raw_.is_quiet) return SummaryDetail::kQuiet;
  return raw_.is_verbose ? SummaryDetail::kVerbose : SummaryDetail::kNormal;
}

Expected<SnapshotTests> RunOptions::ReadSnapshotTests() const {
  if (raw_.when && raw_.snapshots.empty()) {
    return UsageError("--when says which snapshots to keep; add --snapshots DIR, or leave it out");
  }
  if (!raw_.when || *raw_.when == "over_budget") return SnapshotTests::kOverBudget;
  if (*raw_.when == "every") return SnapshotTests::kEvery;
  return UsageError(
      fmt::format("--when '{}': no such tests; write --when=over_budget or every", *raw_.when));
}

Expected<Command> RunOptions::Make(const std::vector<std::string>& program) const {
  if (program.empty() || program.front().empty()) {
    return UsageError("no program to run; write it after two dashes: leakgate run -- BINARY");
  }
  RunCommand command;
  command.request.program = program.front();
  command.request.arguments.assign(program.begin() + 1, program.end());
  command.request.budgets.assign(raw_.budgets.begin(), raw_.budgets.end());
  command.baseline = raw_.baseline;
  command.source_root = raw_.source_root;
  command.snapshots = raw_.snapshots;
  const Expected<SnapshotTests> snapshot_tests = ReadSnapshotTests();
  if (!snapshot_tests) return Unexpected(snapshot_tests.error());
  command.snapshot_tests = *snapshot_tests;
  if (raw_.timeout) {
    const Expected<std::chrono::milliseconds> timeout = ParseTimeout("--timeout", *raw_.timeout);
    if (!timeout) return Unexpected(timeout.error());
    command.request.timeout = *timeout;
  }
  if (raw_.stack_depth) {
    const Expected<std::uint32_t> depth = ParseStackDepth(*raw_.stack_depth);
    if (!depth) return Unexpected(depth.error());
    command.request.stack_depth = *depth;
  }
  if (const Expected<void> read = ReadGating(command.request); !read) {
    return Unexpected(read.error());
  }
  if (raw_.skip_exit_code) {
    const Expected<int> code = ParseSkipExitCode(*raw_.skip_exit_code);
    if (!code) return Unexpected(code.error());
    command.skip_exit_code = *code;
  }
  const Expected<SummaryDetail> detail = ReadDetail();
  if (!detail) return Unexpected(detail.error());
  command.detail = *detail;
  const Expected<ProgressMode> progress = ParseProgress(raw_.progress);
  if (!progress) return Unexpected(progress.error());
  const bool is_silent = raw_.is_quiet && !raw_.progress;
  command.progress = is_silent ? ProgressMode::kNone : *progress;
  command.prints_measurements = raw_.prints_measurements;
  for (const std::string& text : raw_.reports) {
    Expected<ReportRequest> report = ParseReportRequest(text);
    if (!report) return Unexpected(report.error());
    command.reports.push_back(*std::move(report));
  }
  return Command(std::move(command));
}

}  // namespace leakgate
