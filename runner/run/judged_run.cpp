#include "runner/run/judged_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "runner/attach/program_environment.h"
#include "runner/attribution/code_owner.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/path_text.h"
#include "runner/base/time_limit.h"
#include "runner/budget/apply_limits.h"
#include "runner/judge/window_verdict.h"
#include "runner/process/process_tree.h"
#include "runner/report/window_text.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/etw_run.h"
#include "runner/run/gtest_output.h"
#include "runner/run/launched_program.h"
#include "runner/run/operator_probe.h"
#include "runner/run/preparation.h"
#include "runner/run/program_watch.h"
#include "runner/run/run_confirmations.h"
#include "runner/run/run_outcome.h"
#include "runner/run/running_tests.h"
#include "runner/run/traced_processes.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

void AddLines(std::vector<std::string> lines, std::vector<std::string>& to) {
  std::move(lines.begin(), lines.end(), std::back_inserter(to));
}

std::vector<TestId> TestsThatRan(const RunResult& result) {
  std::vector<TestId> tests;
  for (const WindowResult& window : result.windows) {
    const bool has_run = window.kind == WindowKind::kTest && window.status != TestStatus::kSkipped;
    if (has_run) tests.push_back({window.name, window.source_file});
  }
  return tests;
}

// Ends the display of a run's progress when the run ends.
class ProgressEnd {
 public:
  explicit ProgressEnd(RunProgress* progress) : progress_(progress) {}
  ~ProgressEnd() {
    if (progress_ == nullptr) return;
    progress_->Follow(nullptr);
    if (progress_->pause) progress_->pause();
  }
  ProgressEnd(const ProgressEnd&) = delete;
  ProgressEnd& operator=(const ProgressEnd&) = delete;

 private:
  RunProgress* const progress_;
};

class JudgedRun {
 public:
  JudgedRun(const RunRequest& request, const Preparation& prepared, const InheritedState& inherited)
      : request_(request),
        prepared_(prepared),
        inherited_(inherited),
        surroundings_{prepared.budgets,
                      prepared.sources,
                      symbolizer_,
                      variables_,
                      PathText(prepared.program.filename()),
                      [this](WindowResult& window) { confirmations_->ConfirmNow(window); },
                      [this]() -> const OperatorAccount& { return operators_->Account(); },
                      request.mode,
                      request.baseline.get(),
                      request.names_all,
                      request.plants_leak,
                      request.contents},
        processes_(surroundings_, request.extensions, BoundariesOf(prepared.linked),
                   request.stack_depth) {
    std::vector<std::string> wrappers = DeclaredWrappers(prepared.budgets.Files());
    AddLines(request.wrappers, wrappers);
    symbolizer_.MarkWrappers(FindWrappersBy(std::move(wrappers)));
  }

  Expected<RunResult> Run() {
    const BlockedSignals signals;
    const ProgressEnd progress_end(request_.progress);  // before the signals are the runner's again
    const RepetitionSetup setup{.request = request_,
                                .prepared = prepared_,
                                .inherited = inherited_,
                                .signal_mask = signals.original(),
                                .symbolizer = symbolizer_,
                                .is_cancelled = [] { return IsTimeUp(); }};
    confirmations_.emplace(setup);
    operators_.emplace(setup);
    GroupWitness witness(signals.blocked());
    if (request_.timeout) LimitTime(begin_ + *request_.timeout);
    const LaunchRequest launch{.program = prepared_.program,
                               .name = request_.program,
                               .arguments = request_.arguments,
                               .environment = OwnEnvironment(),
                               .signal_mask = signals.original(),
                               .inherited = inherited_};
    if (request_.engine == HeapEngine::kEtw) return RunByEtw(launch);
    LEAKGATE_TRY_ASSIGN(
        const auto program,
        LaunchedProgram::Launch(
            {.process = launch,
             .agent = request_.agent,
             .refused = Refused::kWithoutTests,
             .on_hello = [this](const ControlPeer& peer) { return processes_.OnHello(peer); },
             .on_exec = [this](const ReportedExec& told) { processes_.OnExec(told); }}));
    processes_.program().Enable(program->pid());
    LEAKGATE_TRY(program->Resume([this] { return processes_.Describe(); }));

    ProgramWatch watch(program->process(), signals, witness);
    ShowProgress(watch);
    const ProgramExit end = WaitForEnd(watch, *program);
    const OwnEndSignals own_signals(watch.TakeLateRequest());
    confirmations_->ProgramHasEnded();
    processes_.AwaitEnds();
    return Conclude(end, program->StopServing());
  }

 private:
  void ShowProgress(ProgramWatch& watch) {
    RunProgress* const progress = request_.progress;
    if (progress == nullptr) return;
    watch.AroundStop(progress->pause, progress->resume);
    running_tests_.emplace(
        processes_.program(),
        CountTestsToRun(prepared_.sources, request_.arguments, OwnEnvironment()));
    progress->Follow([this] { return running_tests_->Now(); });
  }

  std::optional<Clock::time_point> Deadline() const {
    return request_.timeout ? std::optional(begin_ + *request_.timeout) : std::nullopt;
  }

  Expected<RunResult> RunByEtw(const LaunchRequest& launch) {
    LEAKGATE_TRY_ASSIGN(EtwRunEnd end,
                        RunTracedByEtw({.process = launch, .deadline = Deadline()}, processes_));
    const OwnEndSignals own_signals(std::nullopt);
    confirmations_->ProgramHasEnded();
    has_timed_out_ = end.has_timed_out;
    engine_doubts_ = std::move(end.doubts);
    return Conclude(end.exit, "");
  }

  ProgramExit WaitForEnd(ProgramWatch& watch, const LaunchedProgram& program) {
    const std::optional<ProgramExit> end = watch.WaitUntil(Deadline());
    if (end) return *end;

    has_timed_out_ = true;
    KillProcessTree(program.pid(), program.mark());
    return watch.WaitUntil(std::nullopt).value();
  }

  RunResult Conclude(const ProgramExit& end, const std::string& server_failure) {
    TakeTimeToConclude();
    RunResult result;
    result.binary = request_.program;
    result.arguments = request_.arguments;
    result.mode = request_.mode;
    result.shard = ShardOf(OwnEnvironment());
    if (request_.baseline) result.baseline = request_.baseline->path;
    result.program = end;
    result.failures = prepared_.budgets.ListExpired();
    CollectWindows(result);
    confirmations_->ConfirmAll(WhyNotRepeated(result), result);
    was_late_ = !has_timed_out_ && IsTimeUp();
    AddReasons(server_failure, result);
    AddWarnings(result);
    const std::string doubt = result.reasons.empty() ? "" : result.reasons.front();
    // What had ended when the program was killed has been judged; the others' windows tell that.
    if (has_timed_out_) {
      result.reasons.push_back(TimeoutReason(processes_.program(), *request_.timeout));
    }
    for (WindowResult& window : result.windows) ConcludeVerdict(doubt, window);
    result.verdict = OverallVerdict(result);
    for (const auto& observer : request_.extensions.observers) observer->Conclude(result.windows);
    result.exit_code = has_timed_out_ || was_late_ ? static_cast<int>(ExitCode::kInconclusive)
                                                   : FinalExitCode(result);
    result.begin = begin_.time_since_epoch();
    result.wall = Clock::now() - begin_;
    symbol_cache_.Save();
    return result;
  }

  void AddReasons(const std::string& server_failure, RunResult& result) {
    if (!server_failure.empty()) result.reasons.push_back(server_failure);
    AddLines(engine_doubts_, result.reasons);
    AddLines(ReasonsForDoubt(processes_.program(), result), result.reasons);
    if (request_.engine == HeapEngine::kAgent) {
      std::string doubt = DoubtAboutListener(prepared_, result);
      if (!doubt.empty()) result.reasons.push_back(std::move(doubt));
    }
    const auto& images = processes_.program().processes();
    const bool has_run = std::any_of(images.begin(), images.end(), [](const auto& image) {
      return image->has_ended_iteration();
    });
    if (request_.needs_tests && has_run && !has_timed_out_) {
      std::string doubt = DoubtWithoutTests(result, OwnEnvironment());
      if (!doubt.empty()) result.reasons.push_back(std::move(doubt));
    }
    if (was_late_) result.reasons.push_back(LateReason(*request_.timeout));
    AddLines(processes_.Doubts(), result.reasons);
    if (prepared_.budgets.NamesProcesses() && RunsAllTests(request_.arguments) &&
        HasEndedInOrder(result)) {
      AddLines(prepared_.budgets.UnseenProcesses(TestsThatRan(result), processes_.named().Images()),
               result.reasons);
    }
    if (confirmations_->was_interrupted()) {
      result.reasons.push_back("the confirmation of retained blocks was interrupted");
    }
  }

  void AddWarnings(RunResult& result) {
    const LinkedFramework linked = prepared_.linked;
    if (linked.framework != TestFramework::kNone && request_.engine == HeapEngine::kEtw) {
      result.warnings.emplace_back(
          "Windows' heap tracing tells no tests apart, so the program is judged as a whole; run "
          "each "
          "test in a process of its own, or let leakgate's agent trace");
    } else if (linked.framework != TestFramework::kNone && !linked.TellsTests()) {
      result.warnings.push_back(AdviceAboutTests(linked));
    }
    if (RunsAllTests(request_.arguments)) {
      AddLines(UnusedAllowances(prepared_.budgets, request_.budgets, result.windows),
               result.warnings);
      if (!request_.budgets.empty() && HasEndedInOrder(result)) {
        AddLines(prepared_.budgets.UnusedFiles(request_.budgets, AllTests(result)),
                 result.warnings);
      }
    }
    if (!IsTimeUp()) AddUnmetExpectations(processes_.program(), result);
  }

  bool HasEndedInOrder(const RunResult& result) const {
    return !has_timed_out_ && !result.program.WasKilled();
  }

  // Returns the names of all tests: those that the program lists, and those that ran.
  std::set<std::string> AllTests(const RunResult& result) const {
    std::set<std::string> tests;
    for (const auto& [name, source] : prepared_.sources) tests.insert(name);
    for (const WindowResult& window : result.windows) {
      if (window.kind == WindowKind::kTest) tests.insert(window.name);
    }
    return tests;
  }

  // Returns why tests cannot be repeated; empty if they can. They can after a crash, too, because
  // another test has crashed.
  std::string WhyNotRepeated(const RunResult& result) const {
    if (IsTimeUp()) return "the run's timeout was reached";
    if (!EndedByWish(result.program)) return "";
    return "the program " + ProgramExitText(result.program);
  }

  void CollectWindows(RunResult& result) {
    processes_.Conclude(result);
    DoubtMissedFrees(result);
    if (request_.plants_leak) {
      result.warnings.push_back(
          fmt::format("--plant-leak: {} bytes were left behind in the first test that allocates",
                      kPlantedBytes));
    }
    const auto output = FindGtestOutput(request_.program, request_.arguments, OwnEnvironment());
    RefineStatuses(output ? ReadGtestOutput(*output, file_begin_) : TestStatuses{}, result.program,
                   result.windows);
  }

  const RunRequest& request_;
  const Preparation& prepared_;
  const InheritedState& inherited_;
  SymbolCache symbol_cache_{request_.symbol_cache};
  Symbolizer symbolizer_{IsRuntimeModule, &symbol_cache_};
  Variables variables_{IsRuntimeModule, &symbol_cache_};
  JudgeSurroundings surroundings_;
  TracedProcesses processes_;
  std::optional<RunningTests> running_tests_;  // set if progress is shown
  std::vector<std::string> engine_doubts_;     // of the system's tracing
  bool has_timed_out_ = false;
  bool was_late_ = false;                          // the time was up once the program had ended
  std::optional<RunConfirmations> confirmations_;  // from launch on
  std::optional<OperatorProbe> operators_;         // likewise
  const Clock::time_point begin_ = Clock::now();
  // File times are coarse: a file that is written now may get a time some milliseconds ago.
  const std::filesystem::file_time_type file_begin_ =
      std::filesystem::file_time_type::clock::now() - std::chrono::milliseconds(20);
};

}  // namespace

Expected<RunResult> Run(const RunRequest& request) {
  const InheritedState inherited = InheritedState::Take();
  LEAKGATE_TRY_ASSIGN(const Preparation prepared, Prepare(request));
  return JudgedRun(request, prepared, inherited).Run();
}

}  // namespace leakgate
