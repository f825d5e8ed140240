// A run's pipe is named after its PID. Another user who has made a pipe of that name keeps the run
// from being asked, and cannot answer for it (nt/message_socket.cpp).
#include "runner/host/named_sockets.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/host/nt/message_pipe.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

constexpr std::chrono::milliseconds kRunPatience(3000);

std::string PipeOfRun(int run_pid) { return fmt::format("leakgate-run-{}", run_pid); }

}  // namespace

UniqueFd ListenAsRun() { return MakePipe(PipeOfRun(OwnPid())); }

std::vector<RunSocket> FindRuns(int pid) {
  std::vector<RunSocket> runs;
  for (const int run_pid : ListProcesses()) {
    if (!IsPipe(PipeOfRun(run_pid))) continue;
    runs.push_back({run_pid, PipeOfRun(run_pid), pid != 0 && IsBelow(pid, run_pid)});
  }
  std::stable_partition(runs.begin(), runs.end(),
                        [](const RunSocket& run) { return run.is_ancestor; });
  return runs;
}

UniqueFd ConnectToRun(int run_pid) {
  UniqueFd pipe = ConnectToPipe(PipeOfRun(run_pid), kRunPatience);
  return pipe && PidOfPeer(pipe) == run_pid ? std::move(pipe) : UniqueFd();
}

// Nobody holds sessions.
Expected<UniqueFd> ListenAsSession(const std::string&) {
  return UsageError("there are no sessions on Windows; use leakgate run or leakgate record");
}

Expected<UniqueFd> ConnectToSession(const std::string& name) {
  return UsageError(fmt::format(
      "there is no session '{}': there are none on Windows; use leakgate run or leakgate record",
      name));
}

bool IsSessionName(const std::string&) { return false; }

std::vector<SessionSocket> FindSessions() { return {}; }

}  // namespace leakgate
