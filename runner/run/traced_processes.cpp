#include "runner/run/traced_processes.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "common/control_protocol.h"
#include "runner/process/process_image.h"
#include "runner/run/run_outcome.h"

namespace leakgate {

HelloReply TracedProcesses::OnHello(const ControlPeer& peer) {
  if (peer.is_forked) return further_.OnFork(peer.pid, peer.window);
  HelloReply reply = named_.OnHello(peer.pid);
  if (peer.pid == program_.pid()) {
    notifies_execs_ = untraced_tests_.Watch(peer.pid);
    reply.wants |= kTraceForks;
  } else if (reply.region_fd < 0) {
    const bool is_unknown = peer.started && peer.started->image.empty();
    is_unknown ? untraced_tests_.NoteUnknown() : untraced_tests_.OnHello(peer);
    const HelloReply further = further_.OnExecuted(peer);
    reply.region_fd = further.region_fd;
    reply.wants |= further.wants;
  }
  if (notifies_execs_) reply.wants |= kNotifyExecs;
  return reply;
}

Expected<JudgedProcess*> TracedProcesses::BeginWithoutAgent(int pid) {
  program_.Enable(pid);
  if (program_.RegionFor(pid) < 0) return InconclusiveError(program_.errors().back());
  (void)untraced_tests_.Watch(pid);
  return program_.processes().back().get();
}

void TracedProcesses::OnExec(const ReportedExec& told) {
  named_.OnExec(told);
  untraced_tests_.OnExec(told);
}

std::vector<ProcessRegion> TracedProcesses::Describe() const {
  std::vector<ProcessRegion> processes;
  if (const JudgedProcess* const latest = program_.latest()) {
    const ImageLife life = latest->HasEnded() ? ImageLife::kOver : ImageLife::kExecuting;
    processes.push_back(latest->Describe(life));
  }
  named_.AddProcesses(processes);
  further_.AddProcesses(processes);
  return processes;
}

void TracedProcesses::AwaitEnds() {
  constexpr std::chrono::seconds kPatience(2);  // for each kind
  named_.AwaitEnds(kPatience);
  further_.AwaitEnds(kPatience);
}

void TracedProcesses::Conclude(RunResult& result) {
  result.tracing.generations = static_cast<int>(program_.processes().size());
  for (const auto& process : program_.processes()) {
    if (process != program_.processes().back()) process->NoteExecuted();
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
  named_.Conclude(result);
}

std::vector<std::string> TracedProcesses::Doubts() const {
  std::vector<std::string> doubts = named_.Doubts();
  for (std::vector<std::string> more : {further_.Doubts(), untraced_tests_.Doubts()}) {
    std::move(more.begin(), more.end(), std::back_inserter(doubts));
  }
  return doubts;
}

}  // namespace leakgate
