#include "runner/session/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "common/control_protocol.h"
#include "runner/budget/budget_file.h"
#include "runner/session/gtest_output.h"
#include "runner/session/linux/control_server.h"
#include "runner/session/linux/image_inspection.h"
#include "runner/session/linux/launcher.h"
#include "runner/session/linux/process_tree.h"
#include "runner/session/linux/signals.h"
#include "runner/session/program_environment.h"
#include "runner/session/program_search.h"
#include "runner/session/run_outcome.h"
#include "runner/session/test_listing.h"
#include "runner/session/traced_process.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

// What is known before the program starts.
struct Preparation {
  std::filesystem::path program;
  TestFramework framework = TestFramework::kNone;
  TestSources sources;
};

// The images of the one PID that is enabled, in the order of its execs.
class Generations {
 public:
  explicit Generations(const JudgeSurroundings& surroundings) : surroundings_(surroundings) {}

  void Enable(int pid) { enabled_pid_.store(pid, std::memory_order_release); }

  // On the control server's thread: a fresh region for the enabled PID.
  int RegionFor(int pid) {
    if (pid != enabled_pid_.load(std::memory_order_acquire)) return -1;
    const std::lock_guard lock(mutex_);
    Expected<std::unique_ptr<RegionFile>> region =
        RegionFile::Create(pid, static_cast<std::uint32_t>(processes_.size()) + 1);
    if (!region) return Note(region.error());
    auto process = TracedProcess::Start(*std::move(region), surroundings_, judging_);
    if (!process) return Note(process.error());
    processes_.push_back(*std::move(process));
    return processes_.back()->region_fd();
  }

  // After the control server has stopped.
  std::vector<std::unique_ptr<TracedProcess>>& processes() { return processes_; }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  int Note(const Error& error) {
    errors_.push_back(error.message);
    return -1;
  }

  const JudgeSurroundings& surroundings_;
  std::atomic<int> enabled_pid_{0};
  std::mutex mutex_;    // of what follows
  std::mutex judging_;  // of the surroundings
  std::vector<std::unique_ptr<TracedProcess>> processes_;
  std::vector<std::string> errors_;
};

Expected<Preparation> Prepare(const RunRequest& request) {
  Preparation prepared;
  Expected<std::filesystem::path> program = FindProgram(request.program);
  if (!program) return Unexpected(program.error());
  prepared.program = *std::move(program);

  std::error_code error;
  if (!std::filesystem::exists(request.agent, error)) {
    return InconclusiveError(fmt::format(
        "{}: the agent is missing, so nothing can be traced; reinstall leakgate, or build the "
        "target leakgate_agent",
        request.agent.string()));
  }
  // A script shows its real image only once it is stopped at exec.
  const Expected<ImageInspection> image = InspectImage(prepared.program);
  if (image) prepared.framework = image->framework;
  return prepared;
}

bool OwnsStream(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.starts_with("--gtest_stream_result_to=");
  });
}

Expected<BudgetSet> ReadBudgets(const RunRequest& request, Preparation& prepared) {
  Expected<std::vector<BudgetFile>> files = std::vector<BudgetFile>();
  if (!request.budgets.empty()) files = LoadBudgetFiles(request.budgets);
  if (!files) return Unexpected(files.error());
  if (!files->empty() && prepared.framework != TestFramework::kNone) {
    prepared.sources = ListTests(prepared.program, request.arguments);
  }
  BudgetSet budgets(*std::move(files), prepared.program);
  std::vector<TestId> tests;
  for (const auto& [name, source] : prepared.sources) tests.push_back({name, source.file});
  const Expected<void> checked = budgets.Check(tests);
  if (!checked) return Unexpected(checked.error());
  return budgets;
}

std::string RunningTest(const Generations& generations, const RegionReader& region) {
  (void)generations;
  std::string name;
  for (std::uint32_t id = 1; id < region.WindowCount(); ++id) {
    const WindowCopy window = region.Window(id);
    if (window.kind == WindowKind::kTest && window.state == WindowState::kOpen) name = window.name;
  }
  return name;
}

std::string AgentFailureText(AgentFailure failure) {
  switch (failure) {
    case AgentFailure::kMallocElsewhere:
      return "the program's malloc is not the one that the agent stands in for; preload no other "
             "allocator in front of it";
    case AgentFailure::kNoMemory:
      return "the agent could not map its tables; raise the limit on address space (ulimit -v)";
    case AgentFailure::kCanaryUnseen:
      return "a trial allocation was not recorded";
    case AgentFailure::kNone:
      break;
  }
  return "the agent did not start";
}

// Why the run cannot be trusted, from the last image's region.
void AddReasons(Generations& generations, RunResult& result) {
  for (const std::string& error : generations.errors()) result.reasons.push_back(error);
  if (generations.processes().empty()) {
    result.reasons.emplace_back(
        "the agent did not start in the program, so nothing was traced; is it static, or does it "
        "clear LD_PRELOAD?");
    return;
  }
  const RegionReader& last = generations.processes().back()->region();
  if (last.State() != AgentState::kTracing) {
    result.reasons.push_back("nothing was traced: " + AgentFailureText(last.Failure()));
  } else if (last.End() == ProgramEnd::kUnseen && result.program.ShellCode() == 0) {
    result.reasons.emplace_back(
        "the program ended without its exit handlers, or executed another that cannot be traced; "
        "what it left could not be judged");
  }
  for (const auto& [reason, count] : result.tracing.drops) {
    result.reasons.push_back(
        fmt::format("{} event{} could not be recorded ({})", count, count == 1 ? "" : "s", reason));
  }
}

class Session {
 public:
  Session(const RunRequest& request, Preparation& prepared, const BudgetSet& budgets)
      : request_(request),
        prepared_(prepared),
        surroundings_{budgets, prepared.sources, symbolizer_,
                      prepared.program.filename().string()},
        generations_(surroundings_) {}

  Expected<RunResult> Run() {
    const BlockedSignals signals;
    auto server = ControlServer::Start([this](int pid) { return generations_.RegionFor(pid); });
    if (!server) return Unexpected(server.error());
    mark_ = fmt::format("{}={}", kControlVariable, (*server)->name());

    auto process = Launch(**server, signals);
    if (!process) return Unexpected(process.error());
    generations_.Enable((*process)->pid());
    const Expected<void> resumed = (*process)->Resume();
    if (!resumed) return Unexpected(resumed.error());

    const ProgramStatus status = WaitForEnd(**process, signals);
    server->reset();  // no further region
    return Conclude(status);
  }

 private:
  Expected<std::unique_ptr<SuspendedProcess>> Launch(const ControlServer& server,
                                                     const BlockedSignals& signals) {
    const std::vector<std::string> own = OwnEnvironment();
    auto environment =
        ProgramEnvironment(own, {request_.agent, server.name(), prepared_.framework});
    if (!environment) return Unexpected(environment.error());
    auto process = SuspendedProcess::Launch({.program = prepared_.program,
                                             .name = request_.program,
                                             .arguments = request_.arguments,
                                             .environment = *std::move(environment),
                                             .signal_mask = signals.original()});
    if (!process) return process;

    const Expected<ImageInspection> image = InspectImage((*process)->image());
    if (!image) return Unexpected(image.error());
    if (image->refusal) {
      return InconclusiveError(
          fmt::format("{}: cannot be traced: {}", (*process)->image().string(), *image->refusal));
    }
    return process;
  }

  ProgramStatus WaitForEnd(const SuspendedProcess& process, const BlockedSignals& signals) {
    constexpr std::chrono::milliseconds kPatience(1000);
    ProgramStatus status;
    while (!process.HasEnded(status)) {
      const auto left = Left();
      if (left && *left <= std::chrono::milliseconds(0) && !has_timed_out_) {
        has_timed_out_ = true;
        KillProcessTree(process.pid(), mark_);
        continue;
      }
      signals.TakeOne(process.pid(), left && !has_timed_out_ ? std::min(*left, kPatience) : kPatience);
    }
    ended_ = Clock::now();
    return status;
  }

  // Until the timeout; nullopt without one.
  std::optional<std::chrono::milliseconds> Left() const {
    if (!request_.timeout) return std::nullopt;
    const auto used = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
    return *request_.timeout - used;
  }

  RunResult Conclude(const ProgramStatus& status) {
    RunResult result;
    result.binary = request_.program;
    result.arguments = request_.arguments;
    if (status.has_exited) {
      result.program.exit_code = status.exit_code;
    } else {
      result.program.signal = status.signal;
    }
    CollectWindows(result);
    AddReasons(generations_, result);
    if (has_timed_out_) AddTimeout(result);
    if (!result.reasons.empty()) WithdrawPasses(result.reasons.front(), result.windows);
    result.verdict = OverallVerdict(result);
    result.exit_code =
        has_timed_out_ ? static_cast<int>(ExitCode::kInconclusive) : FinalExitCode(result);
    result.wall = Clock::now() - begin_;
    return result;
  }

  void CollectWindows(RunResult& result) {
    result.tracing.generations = static_cast<int>(generations_.processes().size());
    for (const auto& process : generations_.processes()) {
      for (WindowResult& window : process->Finish()) result.windows.push_back(std::move(window));
      AddTracing(process->region(), result.tracing);
      result.gating += process->judged();
    }
    for (WindowResult& window : result.windows) NoteUnended(result, window);
    const auto output =
        FindGtestOutput(request_.program, request_.arguments, OwnEnvironment());
    if (output) RefineStatuses(ReadGtestOutput(*output, file_begin_), result.windows);
  }

  // What a dying process leaves is no leak, and no pass either.
  static void NoteUnended(const RunResult& result, WindowResult& window) {
    const bool is_unended_test = window.status == TestStatus::kCrashed;
    const bool is_killed_program =
        window.kind == WindowKind::kProgram && result.program.signal.has_value();
    if (!is_unended_test && !is_killed_program) return;
    window.violations.clear();
    window.verdict = window.verdict == Verdict::kNotGated ? Verdict::kNotGated : Verdict::kInconclusive;
    window.reason = is_unended_test ? "the program ended while the test ran" : "the program was killed";
  }

  void AddTimeout(RunResult& result) const {
    std::string running;
    for (const auto& process : const_cast<Generations&>(generations_).processes()) {
      running = RunningTest(generations_, process->region());
    }
    result.reasons.push_back(fmt::format(
        "the timeout of {} s was reached{}{}; the program and all that it started were killed",
        static_cast<double>(request_.timeout->count()) / 1000.0,
        running.empty() ? "" : " while this test ran: ", running));
  }

  const RunRequest& request_;
  Preparation& prepared_;
  Symbolizer symbolizer_;
  JudgeSurroundings surroundings_;
  Generations generations_;
  std::string mark_;
  bool has_timed_out_ = false;
  const Clock::time_point begin_ = Clock::now();
  const std::filesystem::file_time_type file_begin_ = std::filesystem::file_time_type::clock::now();
  Clock::time_point ended_;
};

}  // namespace

Expected<RunResult> Run(const RunRequest& request) {
  Expected<Preparation> prepared = Prepare(request);
  if (!prepared) return Unexpected(prepared.error());
  const bool needs_stream = prepared->framework != TestFramework::kGoogleTestListener;
  if (needs_stream && OwnsStream(request.arguments)) {
    return UsageError(
        "--gtest_stream_result_to is how leakgate learns where tests begin; leave it out, or link "
        "leakgate::listener");
  }
  Expected<BudgetSet> budgets = ReadBudgets(request, *prepared);
  if (!budgets) return Unexpected(budgets.error());
  return Session(request, *prepared, *budgets).Run();
}

}  // namespace leakgate
