#include "runner/cli/commands/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runner/attach/program_environment.h"
#include "runner/base/atomic_file.h"
#include "runner/base/descriptors.h"
#include "runner/base/path_text.h"
#include "runner/base/user_cache.h"
#include "runner/cli/installation.h"
#include "runner/cli/option_values.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/process/process_image.h"
#include "runner/region/amount.h"
#include "runner/report/formats/html_writer.h"
#include "runner/report/left_behind_text.h"
#include "runner/report/style.h"
#include "runner/report/summary_text.h"
#include "runner/results/history.h"
#include "runner/results/read_baseline.h"
#include "runner/run/etw_run.h"
#include "runner/run/run_outcome.h"
#include "runner/run/test_listing.h"

namespace leakgate {
namespace {

using Runs = std::vector<RunResult>;

// Keeps the runs of `program`; keeps all if the program had another name then.
Runs OfProgram(const std::filesystem::path& program, Runs runs) {
  const auto others = std::stable_partition(runs.begin(), runs.end(), [&](const RunResult& run) {
    return std::filesystem::path(run.binary).filename() == program.filename();
  });
  if (others != runs.begin()) runs.erase(others, runs.end());
  return runs;
}

// The baseline is read before the program starts, since a report may be about to replace it. It
// judges, and the HTML report compares with it.
Expected<Runs> ReadBaselineOf(RunCommand& command) {
  Runs compared;
  if (command.baseline.empty()) return compared;
  const bool compares = HasPage(command.reports);
  std::function<void(RunResult &&)> compare;
  if (compares) {
    compare = [&](RunResult&& run) { compared.push_back(KeepComparedParts(run)); };
  }
  LEAKGATE_TRY_ASSIGN(Baseline baseline, ReadBaseline(command.baseline, compare));
  command.request.baseline = std::make_shared<const Baseline>(std::move(baseline));
  return OfProgram(command.request.program, std::move(compared));
}

Expected<std::optional<EarlierResults>> ReadHistoryOf(const RunCommand& command) {
  if (command.history.empty()) return std::nullopt;
  LEAKGATE_TRY_ASSIGN(const History history, History::Open(command.history, Database::Mode::kRead));
  const std::filesystem::path program = command.request.program;
  LEAKGATE_TRY_ASSIGN(auto moments,
                      history.Totals({.programs = {PathText(program.filename())}, .without = {}}));
  return EarlierResults{PathText(command.history), std::move(moments)};
}

// Finds out before the program starts what is wrong with the files of the run. Returns what the
// page compares with.
Expected<PageContents> PrepareFiles(RunCommand& command) {
  for (ReportRequest& report : command.reports) {
    LEAKGATE_TRY_ASSIGN(std::filesystem::path path,
                        ExpandReportPath(report.path, {.pid = OwnPid(),
                                                       .program = command.request.program,
                                                       .environment = OwnEnvironment()}));
    report.path = std::move(path);
    if (const Expected<void> fits = AtomicFile::CheckPlace(report.path); !fits) {
      return UsageError(fits.error().message);
    }
  }
  LEAKGATE_TRY(CheckReportsDiffer(command.reports));
  if (command.addition != nullptr) {
    LEAKGATE_TRY(command.addition->Prepare(command.request.extensions));
  }
  LEAKGATE_TRY_ASSIGN(Runs baseline, ReadBaselineOf(command));
  LEAKGATE_TRY_ASSIGN(auto history, ReadHistoryOf(command));
  LEAKGATE_TRY_ASSIGN(ReadSource sources, OwnSources(command.source_root));
  return PageContents{std::move(baseline), std::move(history), std::move(sources)};
}

// With the listener, the program itself exits with 1 where a test is over budget.
bool FailsByBudgetsAlone(const RunResult& result) {
  const bool may_be_listeners = result.tracing.boundaries == BoundarySource::kListener;
  const int program = result.program.ShellCode();
  const bool has_passed = program == 0 || (program == 1 && may_be_listeners);
  return has_passed && result.exit_code == 1 && result.verdict == Verdict::kOverBudget &&
         std::none_of(result.windows.begin(), result.windows.end(), [](const auto& window) {
           return window.status == TestStatus::kFailed || window.status == TestStatus::kNotPassed ||
                  window.status == TestStatus::kCrashed;
         });
}

// The report keeps the run's own exit code, because merging reports depends on it.
int ExitCodeToTell(const RunResult& result, const RunCommand& command) {
  const std::optional<int> skip = command.skip_exit_code;
  const std::optional<int> over_budget = command.over_budget_exit_code;
  if (over_budget && FailsByBudgetsAlone(result)) return *over_budget;
  if (skip && result.exit_code == 0 && RanNoTestToItsEnd(result)) return *skip;
  const bool is_taken = result.exit_code == skip || result.exit_code == over_budget;
  return is_taken ? 1 : result.exit_code;
}

const Choices<ShownContents> kShownContents = {"WHICH", "choice", "--contents={}",
                                               AllWordsOf<ShownContents>()};
const Choices<Confirm> kConfirmWays = {"WHEN", "way", "--confirm={}", AllWordsOf<Confirm>()};

const Choices<HeapEngine> kEngines = {"WHO", "engine", "--engine={}", AllWordsOf<HeapEngine>()};

void DeclareGating(RunCommand& command, OptionList& options) {
  RunRequest& request = command.request;
  options.Add(
      "--budgets", FileWord("FILE|DIR"), request.budgets,
      "Read a budget file, or all *.leakgate.json below a directory. Where none limits what "
      "a test may leave outstanding, it fails for what is lost, and for what is retained "
      "and grows when the test is repeated. Repeatable");
  options.Add(
      "--wrapper", TextWord("FUNCTION"), request.wrappers,
      "Take a function that allocates for its callers, such as xmalloc or '*_Malloc', for "
      "no call site: its caller is told. Budget files may name more, and leakgate framework "
      "lists those that are known. Repeatable");
  options.AddChoice("--confirm", kConfirmWays, request.confirm,
                    "When to repeat tests that retain memory, or did more than their budgets "
                    "permit: after the program has ended (default), inline (while the test "
                    "waits), or off");
  options.Add(
      "--confirm-time", TextWord("SECONDS"), request.confirmation.time, ParseSeconds,
      "For the repetitions of all tests, as far as none grows each time: tests are repeated "
      "fewer times, so that what grows seldom may not be told. Default: no such limit");
  options.Add("--confirm-test-timeout", TextWord("SECONDS"), request.confirmation.test,
              ParseSeconds, "For the repetitions of one test. Default: 60");
  options.Add("--confirm-run-timeout", TextWord("SECONDS"), request.confirmation.run, ParseSeconds,
              "For those of all tests, whatever grows. Default: 300");
  options.Add("--confirm-wait", TextWord("SECONDS"), request.confirmation.wait, ParseSeconds,
              "What is about to fail for growth is looked at once more after so long: caches whose "
              "entries expire, and threads that free now and then, have freed it by then. Once in "
              "a run. Default: 6");
  options.AddChoice("--contents", kShownContents, request.contents,
                    "Of which lost blocks the first 64 bytes are shown: few (default: of tests "
                    "with at most three findings), all, or none. A budget file with \"contents\": "
                    "false shows none");
  options.AddFlag("--strict", command.modes, GateMode::kStrict,
                  "What is unconfirmed, and an allowance that nothing used, fail the run");
  options.AddFlag("--warn-only", command.modes, GateMode::kWarnOnly, "Report, and fail nothing");
  options.AddFlag(
      "--plant-leak", request.plants_leak,
      fmt::format("Leave {} bytes behind in a test, to see that the gate fails; nothing is "
                  "compiled for it",
                  kPlantedBytes));
}

void DeclareFiles(RunCommand& command, OptionList& options) {
  options.Add(
      "--report", ReportWord(), command.reports, ParseReport,
      fmt::format("Write a report. Formats: {}. Repeatable. FILE may hold {{pid}}, {{binary}}, "
                  "{{shard}}, {{outputs}} and {{env:NAME}}, so that many jobs write apart",
                  KnownFormats()));
  options.Add("--baseline", FileWord("REPORT"), command.baseline,
              "Fail only for what this earlier JSON report, of one run or merged, has not. What it "
              "has is counted as known");
  options.Add("--history", FileWord("DB"), command.history,
              "Show in the HTML report what earlier runs of the program left, as leakgate history "
              "add has kept it in DB");
  options.Add("--source-root", FileWord("DIR"), command.source_root,
              "In the HTML report, quote only source files below DIR. Default: all that debug "
              "information names");
  if (command.addition != nullptr) command.addition->Declare(options);
}

void DeclareRunning(RunCommand& command, OptionList& options) {
  options.AddChoice("--engine", kEngines, command.request.engine,
                    "Who tells of the program's memory: leakgate's agent (default), or on Windows "
                    "etw, its own heap tracing. That loads nothing into the program, but needs an "
                    "administrator, and tells no tests apart: the program is judged as a whole");
  options.Add(
      "--timeout", TextWord("SECONDS"), command.request.timeout, ParseSeconds,
      "After so long, end the program and all that it started, whatever is left to judge or "
      "repeat, and exit with 3. Fractions are allowed: 0.5");
  options.Add("--stack-depth", TextWord("FRAMES"), command.request.stack_depth, ParseStackDepth,
              fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}. A stack "
                          "that is cut says so",
                          kMaxStackDepth, kDefaultStackDepth));
  options.AddFlag("--no-cache", command.has_no_cache,
                  "Read debug information anew, and keep nothing of it for later runs");
  options.AddFlag("--allow-no-tests", command.allows_no_tests,
                  "Pass where a GoogleTest binary runs no test at all. Without it, and without "
                  "--skip-exit-code, that is inconclusive, unless the run is one shard of several: "
                  "a filter may name tests that are there no more");
  options.Add("--exit-code", TextWord("CODE"), command.over_budget_exit_code, ParseOwnExitCode,
              "Exit with CODE, 4 to 127, instead of 1 if tests are over budget and none has failed "
              "by itself: so a job can tell leaks from failing tests. A program that itself exits "
              "with CODE has failed: 1");
  options.Add("--skip-exit-code", TextWord("CODE"), command.skip_exit_code, ParseOwnExitCode,
              "Exit with CODE, 4 to 127, instead of 0 if no test ran, or all that did were "
              "skipped: 77 for CTest's SKIP_RETURN_CODE, Meson and Automake. A program that itself "
              "exits with CODE has failed: 1");
}

void DeclareOutput(RunCommand& command, OptionList& options) {
  options.AddFlag("--ctest-measurements", command.prints_measurements,
                  "Print on standard output what was outstanding, as CTest's measurements, which "
                  "it passes on to CDash");
  AddProgress(command.given_progress, options);
  options.AddFlag("-q,--quiet", command.details, SummaryDetail::kQuiet,
                  "Of the summary, only what is not a pass; nothing if all pass, and no progress "
                  "unless it is asked for. Errors are told anyway");
  options.AddFlag("-v,--verbose", command.details, SummaryDetail::kVerbose,
                  "Also what passed and by what evidence (replaced, freed later, one-time ...), "
                  "and the slowest and the heaviest tests. Without it, those that stand out");
}

}  // namespace

Expected<void> SetProgram(const ProgramLine& program, std::string_view usage, RunRequest& request) {
  if (program.empty() || program.front().empty()) {
    return UsageError(
        fmt::format("no program to run; write it after two dashes: leakgate {} -- BINARY", usage));
  }
  request.program = program.front();
  request.arguments.assign(program.begin() + 1, program.end());
  return {};
}

Expected<ListedProgram> ListProgram(const ProgramLine& line) {
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(line.front()));
  ListedProgram listed{program, {}};
  for (const auto& [name, source] : ListTests(program, {line.begin() + 1, line.end()})) {
    listed.tests.push_back({name, source.file});
  }
  if (!listed.tests.empty()) return listed;
  return UsageError(
      fmt::format("{}: lists no tests; name a GoogleTest binary, and check its "
                  "--gtest_filter",
                  line.front()));
}

void Declare(RunCommand& command, OptionList& options) {
  DeclareGating(command, options);
  DeclareFiles(command, options);
  DeclareRunning(command, options);
  DeclareOutput(command, options);
}

namespace {

// Without the agent no test is told apart, none is repeated, and stacks are as the system cuts
// them.
Expected<void> CheckEngine(const RunCommand& command) {
  const RunRequest& request = command.request;
  if (request.engine == HeapEngine::kAgent) return {};
  LEAKGATE_TRY(RequireEtw());
  const ConfirmationLimits by_default;
  const std::pair<bool, const char*> pointless[] = {
      {request.confirm.has_value(), "--confirm"},
      {request.confirmation.time.has_value(), "--confirm-time"},
      {request.confirmation.test != by_default.test, "--confirm-test-timeout"},
      {request.confirmation.run != by_default.run, "--confirm-run-timeout"},
      {request.confirmation.wait != by_default.wait, "--confirm-wait"},
      {request.plants_leak, "--plant-leak"},
      {request.stack_depth != kDefaultStackDepth, "--stack-depth"},
      {command.allows_no_tests, "--allow-no-tests"},
      {command.skip_exit_code.has_value(), "--skip-exit-code"},
      {command.prints_measurements, "--ctest-measurements"}};
  for (const auto& [is_given, option] : pointless) {
    if (!is_given) continue;
    return UsageError(fmt::format(
        "{} is for tests that leakgate's agent tells apart, and --engine etw does without the "
        "agent; leave one out",
        option));
  }
  return {};
}

}  // namespace

Expected<void> Complete(RunCommand& command, const ProgramLine& program) {
  if (Expected<void> set = SetProgram(program, "run", command.request); !set) return set;
  if (command.addition != nullptr) {
    if (Expected<void> completed = command.addition->Complete(); !completed) return completed;
  }
  LEAKGATE_TRY(CheckEngine(command));
  if (command.modes.size() > 1) {
    return UsageError("--strict and --warn-only contradict each other; leave one out");
  }
  if (!command.modes.empty()) command.request.mode = command.modes.front();
  // With an exit code of its own, it is told by that.
  command.request.needs_tests = !command.allows_no_tests && !command.skip_exit_code;
  if (Expected<void> shown = CheckHistoryIsShown(command.history, command.reports); !shown) {
    return shown;
  }
  if (command.details.size() > 1) {
    return UsageError("--quiet and --verbose contradict each other; leave one out");
  }
  if (!command.details.empty()) command.detail = command.details.front();
  const bool is_quiet = command.detail == SummaryDetail::kQuiet;
  command.progress =
      command.given_progress.value_or(is_quiet ? ProgressMode::kNone : ProgressMode::kAuto);
  return {};
}

Expected<int> Execute(RunCommand command) {
  command.request.agent = FindAgent();
  command.request.names_all = command.detail == SummaryDetail::kVerbose;
  if (!command.has_no_cache) command.request.symbol_cache = UserCacheFolder();
  LEAKGATE_TRY_ASSIGN(const PageContents page, PrepareFiles(command));
  LEAKGATE_TRY_ASSIGN(const RunResult result,
                      RunShowingProgress(command.request, command.progress));

  Print(stderr, SummaryText(result, StyleOfStandardError(), command.detail));
  if (command.prints_measurements) Print(stdout, CTestMeasurementsText(result));
  Expected<void> written = WriteReports(command.reports, result, page);
  if (command.addition != nullptr) {
    if (const Expected<void> told = command.addition->Tell(command.detail); written) written = told;
  }
  if (written) return ExitCodeToTell(result, command);
  if (result.exit_code == 0) return Unexpected(written.error());
  PrintMessage(written.error().message);
  return ExitCodeToTell(result, command);
}

}  // namespace leakgate
