#include "runner/sessions/run_client.h"

#include <fmt/format.h>

#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"

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

nlohmann::json RegionQuestion(int pid) { return {{"do", "region"}, {"pid", pid}}; }

Expected<std::optional<RunRegion>> FindInReplies(int pid, const std::vector<RunSocket>& runs,
                                                 std::span<PeerReply> replies) {
  std::optional<RunRegion> ended;  // whose PID may be another process's by now
  std::optional<Error> silent;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const int run_pid = runs[i].run_pid;
    if (replies[i].pid != run_pid) continue;  // another user's, or not what it says
    SocketMessage& message = replies[i].message;
    // It is the one, and may be at work.
    if (replies[i].state == PeerReply::State::kSilent && runs[i].is_ancestor) {
      const UniqueFd socket = ConnectToRun(run_pid);
      if (!socket) continue;
      Expected<SocketMessage> answer = Ask(socket, run_pid, RegionQuestion(pid));
      if (answer) message = *std::move(answer);
      if (!answer && answer.error().exit_code != ExitCode::kUsage) silent = answer.error();
    }
    if (!message.fd) continue;
    RunRegion found{run_pid, ProcessFromJson(message.body), std::move(message.fd)};
    if (found.status.state != ProcessState::kEnded) return found;
    if (!ended) ended = std::move(found);
  }
  if (!ended && silent) return Unexpected(*silent);
  return ended;
}

Expected<std::optional<RunRegion>> FindInRuns(int pid) {
  const std::vector<RunSocket> runs = FindRuns(pid);
  std::vector<PeerQuestion> questions;
  for (const RunSocket& run : runs) questions.push_back({run.name, RegionQuestion(pid)});
  std::vector<PeerReply> replies = AskAll(questions);
  return FindInReplies(pid, runs, replies);
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
  UniqueFd socket = ConnectToRun(run_pid);
  if (!socket) return InconclusiveError(fmt::format("{} has ended", NameOfRun(run_pid)));
  const Expected<SocketMessage> answer = Ask(socket, run_pid, {{"do", "hold"}, {"pid", pid}});
  if (!answer) return Unexpected(answer.error());
  return RunHold(std::move(socket), run_pid);
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
