#include "runner/named_session/session_client.h"

#include <fmt/format.h>

#include "runner/named_session/json_members.h"
#include "runner/named_session/run_client.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

enum class Wait { kSeconds, kMinutes };

Expected<SocketMessage> Ask(const std::string& name, Json request, Wait wait = Wait::kSeconds) {
  const Expected<void> checked = CheckSessionName(name);
  if (!checked) return Unexpected(checked.error());
  const Expected<UniqueFd> socket = ConnectToSession(name);
  if (!socket) return Unexpected(socket.error());
  if (wait == Wait::kMinutes) BePatient(*socket);
  const Expected<void> sent = SendMessage(*socket, {std::move(request)}, kSessionOwner);
  if (!sent) return Unexpected(sent.error());
  Expected<SocketMessage> answer = ReceiveMessage(*socket, kSessionOwner);
  if (!answer) return answer;
  if (const auto error = ErrorFromJson(answer->body)) return Unexpected(*error);
  return answer;
}

}  // namespace

Expected<SessionStatus> QuerySession(const std::string& name) {
  const Expected<SocketMessage> answer = Ask(name, {{"do", "query"}});
  if (!answer) return Unexpected(answer.error());
  return StatusFromJson(answer->body);
}

Expected<SessionStatus> UpdateSession(const std::string& name, const SessionScope& add,
                                      const SessionScope& drop) {
  const Expected<SocketMessage> answer =
      Ask(name, {{"do", "update"}, {"add", ToJson(add)}, {"drop", ToJson(drop)}});
  if (!answer) return Unexpected(answer.error());
  return StatusFromJson(answer->body);
}

Expected<std::vector<std::string>> StopSession(const std::string& name) {
  const Expected<SocketMessage> answer = Ask(name, {{"do", "stop"}}, Wait::kMinutes);
  if (!answer) return Unexpected(answer.error());
  return MemberOr(answer->body, "problems", std::vector<std::string>());
}

Expected<FoundProcess> ProcessOfSession(const std::string& name, int pid,
                                        std::uint32_t generation) {
  Expected<SocketMessage> answer =
      Ask(name, {{"do", "region"}, {"pid", pid}, {"generation", generation}});
  if (!answer) return Unexpected(answer.error());
  if (!answer->fd) {
    return InconclusiveError(fmt::format("the session '{}' sent no region of PID {}", name, pid));
  }
  const ProcessStatus status = ProcessFromJson(answer->body);
  return FoundProcess{.session = name,
                      .run_pid = 0,
                      .pid = pid,
                      .program = status.program,
                      .has_ended = status.state == ProcessState::kEnded,
                      .region = std::move(answer->fd)};
}

Expected<FoundProcess> FindProcess(int pid) {
  for (const std::string& name : SessionNames()) {
    Expected<FoundProcess> found = ProcessOfSession(name, pid);
    if (found) return found;
  }
  Expected<std::optional<RunRegion>> of_run = FindInRuns(pid);
  if (!of_run) return Unexpected(of_run.error());
  if (*of_run) {
    RunRegion& found = **of_run;
    return FoundProcess{.session = "",
                        .run_pid = found.run_pid,
                        .pid = pid,
                        .program = found.status.program,
                        .has_ended = found.status.state == ProcessState::kEnded,
                        .region = std::move(found.region)};
  }
  return UsageError(fmt::format(
      "no session and no run traces PID {0}; enable it: leakgate snapshot config --pid {0} enable",
      pid));
}

}  // namespace leakgate
