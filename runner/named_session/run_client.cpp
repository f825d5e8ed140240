#include "runner/named_session/run_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/named_session/json_members.h"
#include "runner/named_session/linux/run_socket.h"
#include "runner/named_session/session_messages.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

Expected<SocketMessage> Ask(const UniqueFd& socket, int run_pid, Json request) {
  const std::string run = NameOfRun(run_pid);
  const Expected<void> sent = SendMessage(socket, {std::move(request)}, run);
  if (!sent) return Unexpected(sent.error());
  Expected<SocketMessage> answer = ReceiveMessage(socket, run);
  if (!answer) return answer;
  if (const auto error = ErrorFromJson(answer->body)) return Unexpected(*error);
  return answer;
}

}  // namespace

std::vector<RunStatus> QueryRuns() {
  std::vector<RunStatus> runs;
  for (const RunSocket& run : FindRuns()) {
    const UniqueFd socket = ConnectToRun(run);
    if (!socket) continue;
    const Expected<SocketMessage> answer = Ask(socket, run.run_pid, {{"do", "query"}});
    if (!answer) continue;
    RunStatus& status = runs.emplace_back(RunStatus{run.run_pid, {}});
    for (const Json& process : MemberOr(answer->body, "processes", std::vector<Json>())) {
      status.processes.push_back(ProcessFromJson(process));
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunStatus& a, const RunStatus& b) { return a.run_pid < b.run_pid; });
  return runs;
}

Expected<std::optional<RunRegion>> FindInRuns(int pid) {
  std::optional<RunRegion> ended;  // whose PID may be another process's by now
  std::optional<Error> silent;
  for (const RunSocket& run : FindRuns(pid)) {
    const UniqueFd socket = ConnectToRun(run);
    if (!socket) continue;
    Expected<SocketMessage> answer = Ask(socket, run.run_pid, {{"do", "region"}, {"pid", pid}});
    const bool is_silent = !answer && answer.error().exit_code != ExitCode::kUsage;
    if (is_silent && run.is_ancestor) silent = answer.error();
    if (!answer || !answer->fd) continue;
    RunRegion found{run.run_pid, ProcessFromJson(answer->body), std::move(answer->fd)};
    if (found.status.state != ProcessState::kEnded) return found;
    if (!ended) ended = std::move(found);
  }
  if (!ended && silent) return Unexpected(*silent);
  return ended;
}

Expected<void> RequireInNoRun(int pid) {
  const Expected<std::optional<RunRegion>> found = FindInRuns(pid);
  if (!found) return Unexpected(found.error());
  if (!*found || (**found).status.state == ProcessState::kEnded) return {};
  return UsageError(
      fmt::format("PID {0} is traced by {1} until it ends, and by no session; snapshots can be "
                  "taken of it: leakgate snapshot take --pid {0}",
                  pid, NameOfRun((**found).run_pid)));
}

Expected<RunHold> RunHold::Take(int run_pid, int pid) {
  for (const RunSocket& run : FindRuns(pid)) {
    if (run.run_pid != run_pid) continue;
    UniqueFd socket = ConnectToRun(run);
    if (!socket) continue;
    const Expected<SocketMessage> answer = Ask(socket, run_pid, {{"do", "hold"}, {"pid", pid}});
    if (!answer) return Unexpected(answer.error());
    return RunHold(std::move(socket), run_pid);
  }
  return InconclusiveError(fmt::format("{} has ended", NameOfRun(run_pid)));
}

Expected<void> RunHold::Release() {
  const std::string run = NameOfRun(run_pid_);
  // Where it has ended meanwhile, its answer is there all the same.
  (void)SendMessage(socket_, {{{"do", "release"}}}, run);
  const Expected<SocketMessage> answer = ReceiveMessage(socket_, run);
  if (!answer) return Unexpected(answer.error());
  if (const auto error = ErrorFromJson(answer->body)) return Unexpected(*error);
  return {};
}

}  // namespace leakgate
