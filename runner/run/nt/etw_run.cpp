#include "runner/run/etw_run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "runner/etw/nt/heap_session.h"
#include "runner/etw/traced_region.h"
#include "runner/process/process_tree.h"
#include "runner/run/launched_program.h"
#include "runner/run/nt/debugged_program.h"
#include "runner/run/nt/left_events.h"

namespace leakgate {
namespace {

class TracedRun {
 public:
  TracedRun(SuspendedProcess& process, const TraceCalls& calls, JudgedProcess& judged,
            RegionWriter writer)
      : process_(process),
        calls_(calls),
        judged_(judged),
        program_(process),
        region_(std::move(writer), program_.modules()) {}

  // REQUIRES: the program does not run.
  [[nodiscard]] Expected<void> Trace(HeapTrace earlier) {
    LEAKGATE_TRY_ASSIGN(session_, HeapSession::Start(calls_, std::move(earlier)));
    return session_->Verify();
  }

  [[nodiscard]] Expected<EtwRunEnd> Run(
      const std::optional<std::chrono::steady_clock::time_point>& deadline) {
    LEAKGATE_TRY(program_.Resume());
    for (;;) {
      const DebuggedProgram::Stop stop =
          program_.WaitUntil(end_.has_timed_out ? std::nullopt : deadline);
      if (stop == DebuggedProgram::Stop::kEnded) break;
      if (stop == DebuggedProgram::Stop::kHeld) {
        JudgeHeld();
      } else {
        end_.has_timed_out = true;
        KillProcessTree(process_.pid(), "");
      }
    }
    end_.exit = process_.Poll().value_or(ProgramExit{});
    if (session_ != nullptr) (void)TakeTrace();
    if (end_.doubts.empty() && !has_told_) {
      end_.doubts.emplace_back(
          "Windows' heap tracing told nothing of the program; let leakgate's agent trace");
    }
    if (!losses_.empty()) {
      end_.doubts.push_back(
          fmt::format("Windows' heap tracing did not tell all: {}; trace while the machine does "
                      "less, or let leakgate's agent trace",
                      losses_));
    }
    region_.SetEnd(program_.end());
    return std::move(end_);
  }

  const std::vector<std::string>& started() const { return program_.started(); }

 private:
  // Whatever goes wrong here makes the run inconclusive. The program goes on.
  void JudgeHeld() {
    std::optional<HeapTrace> trace = TakeTrace();
    if (!trace) return;
    judged_.EndProcess(program_.held_thread());
    if (Expected<void> goes_on = Trace(*std::move(trace)); !goes_on) {
      session_.reset();
      end_.doubts.push_back(std::move(goes_on.error().message));
    }
  }

  // Ends the session, and writes what it has told into the region.
  std::optional<HeapTrace> TakeTrace() {
    Expected<HeapTrace> trace = std::exchange(session_, nullptr)->Stop();
    if (!trace) {
      end_.doubts.push_back(std::move(trace.error().message));
      return std::nullopt;
    }
    region_.Write(*trace);
    losses_ = DescribeLosses(trace->losses());  // of earlier sessions, too
    has_told_ = trace->heap_events() != 0;
    return *std::move(trace);
  }

  SuspendedProcess& process_;
  const TraceCalls& calls_;
  JudgedProcess& judged_;
  DebuggedProgram program_;
  TracedRegion region_;
  std::unique_ptr<HeapSession> session_;
  std::string losses_;
  bool has_told_ = false;  // of the program's heap
  EtwRunEnd end_;
};

}  // namespace

Expected<void> RequireEtw() { return {}; }

Expected<EtwRunEnd> RunTracedByEtw(const EtwRun& run, TracedProcesses& processes) {
  LEAKGATE_TRY_ASSIGN(const TraceCalls calls, SystemTraceCalls());
  LaunchRequest launch = run.process;
  launch.debugged = Debugged::kYes;
  LEAKGATE_TRY_ASSIGN(const auto process, SuspendedProcess::Launch(launch));
  LEAKGATE_TRY(RequireTraceable(launch.program, *process, Refused::kUntraceable));
  LEAKGATE_TRY_ASSIGN(JudgedProcess* const judged, processes.BeginWithoutAgent(process->pid()));
  LEAKGATE_TRY_ASSIGN(RegionWriter writer, RegionWriter::Open(judged->shared_memory()));
  TracedRun traced(*process, calls, *judged, std::move(writer));
  LEAKGATE_TRY(traced.Trace(HeapTrace(static_cast<std::uint32_t>(process->pid()))));
  // Starting the session may take seconds.
  if (WasEventLeftToProgram()) {
    return InconclusiveError("interrupted before the program began; nothing of it was run");
  }
  LEAKGATE_TRY_ASSIGN(EtwRunEnd end, traced.Run(run.deadline));
  for (const std::string& image : traced.started()) processes.OnStarted(image);
  return end;
}

}  // namespace leakgate
