#include "runner/run/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "common/control_protocol.h"
#include "runner/attach/program_environment.h"
#include "runner/attribution/code_owner.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/time_limit.h"
#include "runner/budget/apply_limits.h"
#include "runner/host/control_server.h"
#include "runner/judge/window_verdict.h"
#include "runner/process/called_name.h"
#include "runner/process/process_tree.h"
#include "runner/report/window_text.h"
#include "runner/run/further_processes.h"
#include "runner/run/gtest_output.h"
#include "runner/run/judged_process.h"
#include "runner/run/launcher.h"
#include "runner/run/named_processes.h"
#include "runner/run/operator_probe.h"
#include "runner/run/preparation.h"
#include "runner/run/program_watch.h"
#include "runner/run/run_confirmations.h"
#include "runner/run/run_outcome.h"
#include "runner/run/run_server.h"
#include "runner/run/running_tests.h"
#include "runner/run/untraced_tests.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

// For child processes that are ending as the program ends.
constexpr std::chrono::seconds kChildPatience(2);

BoundarySource BoundariesOf(TestFramework framework) {
  return framework == TestFramework::kGoogleTestListener ? BoundarySource::kListener
                                                         : BoundarySource::kStream;
}

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

// One run from launch to result. Run shows its steps in order.
class Session {
 public:
  Session(const RunRequest& request, const Preparation& prepared, const InheritedState& inherited)
      : request_(request),
        prepared_(prepared),
        inherited_(inherited),
        surroundings_{prepared.budgets,
                      prepared.sources,
                      symbolizer_,
                      variables_,
                      prepared.program.filename().string(),
                      [this](WindowResult& window) { confirmations_->ConfirmNow(window); },
                      [this]() -> const OperatorAccount& { return operators_->Account(); },
                      request.mode,
                      request.baseline.get(),
                      request.names_all,
                      request.plants_leak},
        generations_(surroundings_, request.extensions, BoundariesOf(prepared.framework),
                     request.stack_depth),
        processes_(surroundings_, generations_, request.stack_depth),
        further_(surroundings_, generations_, request.stack_depth) {
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
    LEAKGATE_TRY_ASSIGN(
        auto server,
        ControlServer::Start(
            {.on_hello = [this](const ControlPeer& peer) { return OnHello(peer); },
             .is_served = IsOfThisRun,
             .on_exec =
                 [this](const ReportedExec& told) {
                   processes_.OnExec(told);
                   untraced_tests_.OnExec(told);
                 },
             .on_unserved =
                 [this](const ControlPeer& peer, const std::string& why) {
                   server_failure_ = fmt::format("PID {} could not be traced: {}", peer.pid, why);
                 },
             .on_failure = [this](const std::string& why) { server_failure_ = why; }}));

    LEAKGATE_TRY_ASSIGN(auto process, Launch((server)->name(), signals));
    LEAKGATE_TRY(RequireTraceable(*process));
    generations_.Enable((process)->pid());
    command_server_ = RunServer::Start([this] { return Processes(); });
    LEAKGATE_TRY((process)->Resume());

    ProgramWatch watch(*process, signals, witness);
    ShowProgress(watch);
    const ProgramExit program = WaitForEnd(watch, (process)->pid(), (server)->name());
    const OwnEndSignals own_signals(watch.TakeLateRequest());
    confirmations_->ProgramHasEnded();
    processes_.AwaitEnds(kChildPatience);
    further_.AwaitEnds(kChildPatience);
    server.reset();  // no further region
    command_server_.reset();
    return Conclude(program);
  }

 private:
  HelloReply OnHello(const ControlPeer& peer) {
    if (peer.is_forked) return further_.OnFork(peer.pid, peer.window);
    HelloReply reply = processes_.OnHello(peer.pid);
    if (peer.pid == generations_.pid()) {
      notifies_execs_ = untraced_tests_.Watch(peer.pid);
      reply.wants |= kTraceForks;
    } else if (reply.region_fd < 0) {
      untraced_tests_.OnHello(peer.pid);
      const HelloReply further = further_.OnExecuted(peer.pid);
      reply.region_fd = further.region_fd;
      reply.wants |= further.wants;
    }
    if (notifies_execs_) reply.wants |= kNotifyExecs;
    return reply;
  }

  std::vector<ProcessRegion> Processes() const {
    std::vector<ProcessRegion> processes;
    if (const JudgedProcess* const program = generations_.latest()) {
      const ImageLife life = program->HasEnded() ? ImageLife::kOver : ImageLife::kExecuting;
      processes.push_back(program->Describe(life));
    }
    processes_.AddProcesses(processes);
    further_.AddProcesses(processes);
    return processes;
  }

  Expected<std::unique_ptr<SuspendedProcess>> Launch(const std::string& control_name,
                                                     const BlockedSignals& signals) const {
    LEAKGATE_TRY_ASSIGN(auto environment,
                        ProgramEnvironment(OwnEnvironment(), {request_.agent, control_name}));
    return SuspendedProcess::Launch({.program = prepared_.program,
                                     .name = request_.program,
                                     .arguments = request_.arguments,
                                     .environment = std::move(environment),
                                     .signal_mask = signals.original(),
                                     .inherited = inherited_});
  }

  Expected<void> RequireTraceable(const SuspendedProcess& process) const {
    std::filesystem::path image = process.image();
    if (image.empty()) image = prepared_.program;
    LEAKGATE_TRY_ASSIGN(const ImageInspection inspection, InspectImage(image));
    const std::optional<std::string>& why =
        inspection.refusal ? inspection.refusal : inspection.stream_problem;
    if (!why) return {};
    return InconclusiveError(
        fmt::format("{}: cannot be traced: {}", CalledName(prepared_.program, image), *why));
  }

  void ShowProgress(ProgramWatch& watch) {
    RunProgress* const progress = request_.progress;
    if (progress == nullptr) return;
    watch.AroundStop(progress->pause, progress->resume);
    running_tests_.emplace(
        generations_, CountTestsToRun(prepared_.sources, request_.arguments, OwnEnvironment()));
    progress->Follow([this] { return running_tests_->Now(); });
  }

  ProgramExit WaitForEnd(ProgramWatch& watch, int pid, const std::string& control_name) {
    std::optional<Clock::time_point> deadline;
    if (request_.timeout) deadline = begin_ + *request_.timeout;
    const std::optional<ProgramExit> end = watch.WaitUntil(deadline);
    if (end) return *end;

    has_timed_out_ = true;
    KillProcessTree(pid, fmt::format("{}={}", kControlVariable, control_name));
    return watch.WaitUntil(std::nullopt).value();
  }

  RunResult Conclude(const ProgramExit& program) {
    TakeTimeToConclude();
    RunResult result;
    result.binary = request_.program;
    result.arguments = request_.arguments;
    result.mode = request_.mode;
    result.shard = ShardOf(OwnEnvironment());
    if (request_.baseline) result.baseline = request_.baseline->path;
    result.program = program;
    result.failures = prepared_.budgets.ListExpired();
    CollectWindows(result);
    confirmations_->ConfirmAll(WhyNotRepeated(result), result);
    for (WindowResult& window : result.windows) RefuseUntold(window);
    const bool was_late = !has_timed_out_ && IsTimeUp();
    result.reasons = ReasonsForDoubt(generations_, result);
    if (std::string doubt = DoubtAboutListener(prepared_, result); !doubt.empty()) {
      result.reasons.push_back(std::move(doubt));
    }
    if (!server_failure_.empty()) {
      result.reasons.insert(result.reasons.begin(), server_failure_);
    }
    if (has_timed_out_) {
      result.reasons.push_back(TimeoutReason(generations_, *request_.timeout));
    }
    if (was_late) result.reasons.push_back(LateReason(*request_.timeout));
    AddLines(processes_.Doubts(), result.reasons);
    AddLines(further_.Doubts(), result.reasons);
    AddLines(untraced_tests_.Doubts(), result.reasons);
    const bool has_ended_in_order = !has_timed_out_ && !result.program.signal;
    if (prepared_.budgets.NamesProcesses() && RunsAllTests(request_.arguments) &&
        has_ended_in_order) {
      AddLines(prepared_.budgets.UnseenProcesses(TestsThatRan(result), processes_.Images()),
               result.reasons);
    }
    if (RunsAllTests(request_.arguments)) {
      result.warnings = UnusedAllowances(prepared_.budgets, request_.budgets, result.windows);
      if (!request_.budgets.empty() && has_ended_in_order) {
        AddLines(prepared_.budgets.UnusedFiles(request_.budgets, AllTests(result)),
                 result.warnings);
      }
    }
    if (!IsTimeUp()) AddUnmetExpectations(generations_, result);
    if (confirmations_->was_interrupted()) {
      result.reasons.push_back("the confirmation of retained blocks was interrupted");
    }
    if (!result.reasons.empty()) WithdrawPasses(result.reasons.front(), result.windows);
    result.verdict = OverallVerdict(result);
    for (const auto& observer : request_.extensions.observers) observer->Conclude(result.windows);
    result.exit_code = has_timed_out_ || was_late ? static_cast<int>(ExitCode::kInconclusive)
                                                  : FinalExitCode(result);
    result.begin = begin_.time_since_epoch();
    result.wall = Clock::now() - begin_;
    symbol_cache_.Save();
    return result;
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
    const std::optional<int> signal = result.program.signal;
    if (!signal || !EndsByWish(*signal)) return "";
    return "the program " + ProgramExitText(result.program);
  }

  void CollectWindows(RunResult& result) {
    result.tracing.generations = static_cast<int>(generations_.processes().size());
    for (const auto& process : generations_.processes()) {
      if (process != generations_.processes().back()) process->NoteExecuted();
      AddTracing(process->region(), result.tracing);
      process->region().ReleasePages();
      std::vector<WindowResult> windows = process->Finish();
      if (result.windows.empty()) {
        result.windows = std::move(windows);
      } else {
        std::move(windows.begin(), windows.end(), std::back_inserter(result.windows));
      }
      result.gating += process->judged();
    }
    further_.Conclude(result);
    NoteUnended(result.program, result.windows);
    processes_.Conclude(result);
    if (request_.plants_leak) {
      result.warnings.push_back(
          fmt::format("--plant-leak: {} bytes were left behind in the first test that allocates",
                      kPlantedBytes));
    }
    const auto output = FindGtestOutput(request_.program, request_.arguments, OwnEnvironment());
    if (output) RefineStatuses(ReadGtestOutput(*output, file_begin_), result.windows);
  }

  const RunRequest& request_;
  const Preparation& prepared_;
  const InheritedState& inherited_;
  SymbolCache symbol_cache_{request_.symbol_cache};
  Symbolizer symbolizer_{IsRuntimeModule, &symbol_cache_};
  Variables variables_{IsRuntimeModule, &symbol_cache_};
  JudgeSurroundings surroundings_;
  Generations generations_;
  std::optional<RunningTests> running_tests_;  // set if progress is shown
  NamedProcesses processes_;
  FurtherProcesses further_;
  UntracedTests untraced_tests_;
  std::shared_ptr<RunServer> command_server_;  // while the program runs; may be null
  bool notifies_execs_ = false;
  std::string server_failure_;  // read once the server has stopped
  bool has_timed_out_ = false;
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
  return Session(request, prepared, inherited).Run();
}

}  // namespace leakgate
