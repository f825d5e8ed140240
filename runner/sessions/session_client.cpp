#include "runner/sessions/session_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "runner/attach/attach.h"
#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

// Sends `request` and returns the answer, or the error that the answer says.
Expected<SocketMessage> Ask(const UniqueFd& socket, Json request, std::string_view peer) {
  LEAKGATE_TRY(SendMessage(socket, {std::move(request)}, peer));
  Expected<SocketMessage> answer = ReceiveMessage(socket, peer);
  if (!answer) return answer;
  if (const auto error = ErrorFromJson(answer->body)) return Unexpected(*error);
  return answer;
}

enum class Wait { kSeconds, kMinutes };

Expected<SocketMessage> AskSession(const std::string& name, Json request,
                                   Wait wait = Wait::kSeconds) {
  LEAKGATE_TRY(CheckSessionName(name));
  LEAKGATE_TRY_ASSIGN(const UniqueFd socket, ConnectToSession(name));
  if (wait == Wait::kMinutes) AllowSlowAnswer(socket);
  return Ask(socket, std::move(request), kSessionOwner);
}

FoundProcess FromSession(const std::string& name, int pid, SocketMessage answer) {
  FoundProcess found{name, 0, ProcessFromJson(answer.body), std::move(answer.fd)};
  found.status.pid = pid;
  return found;
}

std::vector<ProcessStatus> ProcessesIn(const Json& body) {
  std::vector<ProcessStatus> processes;
  for (const Json& process : MemberOr(body, "processes", std::vector<Json>())) {
    processes.push_back(ProcessFromJson(process));
  }
  return processes;
}

// The sessions and runs that can be asked.
struct Peers {
  std::vector<SessionSocket> sessions;
  std::vector<RunSocket> runs;
  std::vector<PeerQuestion> questions;

  std::string NameOf(std::size_t i) const {
    return i < sessions.size() ? fmt::format("the session '{}'", sessions[i].name)
                               : NameOfRun(runs[i - sessions.size()].run_pid);
  }
};

// `pid` is passed to FindRuns.
Peers PeersFor(const Json& question, int pid) {
  Peers peers{FindSessions(), FindRuns(pid), {}};
  for (const SessionSocket& session : peers.sessions) {
    peers.questions.push_back({session.socket, question});
  }
  for (const RunSocket& run : peers.runs) peers.questions.push_back({run.name, question});
  return peers;
}

Json RegionQuestion(int pid) { return {{"do", "region"}, {"pid", pid}}; }

// Looks for `pid` in what `runs` have replied to RegionQuestion.
Expected<std::optional<FoundProcess>> FindInReplies(int pid, const std::vector<RunSocket>& runs,
                                                    std::span<PeerReply> replies) {
  std::optional<FoundProcess> ended;  // whose PID may be another process's by now
  std::optional<Error> silent;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const int run_pid = runs[i].run_pid;
    if (replies[i].pid != run_pid) continue;  // another user's, or not what it says
    SocketMessage& message = replies[i].message;
    // The process descends from this run, which may just be busy, so it is asked once more.
    if (replies[i].state == PeerReply::State::kSilent && runs[i].is_ancestor) {
      const UniqueFd socket = ConnectToRun(run_pid);
      if (!socket) continue;
      Expected<SocketMessage> answer = Ask(socket, RegionQuestion(pid), NameOfRun(run_pid));
      if (answer) message = *std::move(answer);
      if (!answer && answer.error().exit_code != ExitCode::kUsage) silent = answer.error();
    }
    if (!message.fd) continue;
    FoundProcess found{"", run_pid, ProcessFromJson(message.body), std::move(message.fd)};
    if (!found.HasEnded()) return found;
    if (!ended) ended = std::move(found);
  }
  if (!ended && silent) return Unexpected(*silent);
  return ended;
}

}  // namespace

Expected<std::optional<FoundProcess>> FindInRuns(int pid) {
  const std::vector<RunSocket> runs = FindRuns(pid);
  std::vector<PeerQuestion> questions;
  for (const RunSocket& run : runs) questions.push_back({run.name, RegionQuestion(pid)});
  std::vector<PeerReply> replies = AskAll(questions);
  return FindInReplies(pid, runs, replies);
}

Expected<void> RequireInNoRun(int pid) {
  LEAKGATE_TRY_ASSIGN(const std::optional<FoundProcess> found, FindInRuns(pid));
  if (!found || (*found).HasEnded()) return {};
  return UsageError(
      fmt::format("PID {0} is traced by {1} until it ends, and by no session; snapshots can be "
                  "taken of it: leakgate snapshot take --pid {0}",
                  pid, NameOfRun((*found).run_pid)));
}

Expected<void> RequireInNoOtherSession(int pid, const std::string& name) {
  if (!IsStoppedBySignal(pid)) return {};
  for (const SessionStatus& session : SurveySessionsAndRuns().sessions) {
    if (session.name == name || !session.scope.pids.contains(pid)) continue;
    return UsageError(
        fmt::format("PID {0} is suspended, and the session '{1}' has it already; drop it there "
                    "first: leakgate session update {1} --drop-pid {0}",
                    pid, session.name));
  }
  return {};
}

Expected<RunHold> RunHold::Take(int run_pid, int pid) {
  UniqueFd socket = ConnectToRun(run_pid);
  if (!socket) return InconclusiveError(fmt::format("{} has ended", NameOfRun(run_pid)));
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const SocketMessage answer,
                      Ask(socket, {{"do", "hold"}, {"pid", pid}}, NameOfRun(run_pid)));
  return RunHold(std::move(socket), run_pid);
}

Expected<void> RunHold::Release() {
  const std::string run = NameOfRun(run_pid_);
  // The run may have ended meanwhile, but its answer can still be read.
  (void)SendMessage(socket_, {{{"do", "release"}}}, run);
  LEAKGATE_TRY_ASSIGN(const SocketMessage answer, ReceiveMessage(socket_, run));
  if (const auto error = ErrorFromJson(answer.body)) return Unexpected(*error);
  return {};
}

Expected<SessionStatus> QuerySession(const std::string& name) {
  LEAKGATE_TRY_ASSIGN(const SocketMessage answer, AskSession(name, {{"do", "query"}}));
  return StatusFromJson(answer.body);
}

Expected<SessionStatus> UpdateSession(const std::string& name, const SessionScope& add,
                                      const SessionScope& drop) {
  LEAKGATE_TRY_ASSIGN(
      const SocketMessage answer,
      AskSession(name, {{"do", "update"}, {"add", ToJson(add)}, {"drop", ToJson(drop)}}));
  return StatusFromJson(answer.body);
}

Expected<StoppedSession> StopSession(const std::string& name) {
  LEAKGATE_TRY_ASSIGN(const SocketMessage answer,
                      AskSession(name, {{"do", "stop"}}, Wait::kMinutes));
  StoppedSession stopped;
  ReadMember(answer.body, "problems", stopped.problems);
  stopped.recordings = RecordedFilesFromJson(MemberOr(answer.body, "recordings", Json()));
  ReadMember(answer.body, "unwritten", stopped.unwritten);
  ReadMember(answer.body, "failure", stopped.failure);
  return stopped;
}

Expected<FoundProcess> ProcessOfSession(const std::string& name, int pid,
                                        std::uint32_t generation) {
  LEAKGATE_TRY_ASSIGN(
      SocketMessage answer,
      AskSession(name, {{"do", "region"}, {"pid", pid}, {"generation", generation}}));
  if (!answer.fd) {
    return InconclusiveError(fmt::format("the session '{}' sent no region of PID {}", name, pid));
  }
  return FromSession(name, pid, std::move(answer));
}

Survey SurveySessionsAndRuns() {
  const Peers peers = PeersFor({{"do", "query"}}, 0);
  std::vector<PeerReply> replies = AskAll(peers.questions);
  Survey survey;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const PeerReply& reply = replies[i];
    const Json& body = reply.message.body;
    if (reply.state == PeerReply::State::kSilent) survey.silent.push_back(peers.NameOf(i));
    if (reply.state == PeerReply::State::kClosed) {
      survey.silent.push_back(fmt::format("the process with the name of {}", peers.NameOf(i)));
    }
    if (reply.state != PeerReply::State::kAnswered || ErrorFromJson(body)) continue;
    if (i < peers.sessions.size()) {
      survey.sessions.push_back(StatusFromJson(body));
    } else if (const int run_pid = peers.runs[i - peers.sessions.size()].run_pid;
               reply.pid == run_pid) {
      survey.runs.push_back({run_pid, ProcessesIn(body)});
    }
  }
  std::sort(survey.runs.begin(), survey.runs.end(),
            [](const RunStatus& a, const RunStatus& b) { return a.run_pid < b.run_pid; });
  return survey;
}

Expected<FoundProcess> FindProcess(int pid) {
  const Peers peers = PeersFor(RegionQuestion(pid), pid);
  std::vector<PeerReply> replies = AskAll(peers.questions);
  std::vector<std::string> silent;
  for (std::size_t i = 0; i < peers.sessions.size(); ++i) {
    if (replies[i].state == PeerReply::State::kSilent) silent.push_back(peers.NameOf(i));
    if (!replies[i].message.fd) continue;
    return FromSession(peers.sessions[i].name, pid, std::move(replies[i].message));
  }
  LEAKGATE_TRY_ASSIGN(
      std::optional<FoundProcess> of_run,
      FindInReplies(pid, peers.runs, std::span(replies).subspan(peers.sessions.size())));
  if (of_run) {
    (*of_run).status.pid = pid;
    return *std::move(of_run);
  }
  if (!silent.empty()) {
    return InconclusiveError(fmt::format(
        "no session that answers and no run traces PID {}; not answering: {}; if one of them "
        "traces it, name it: --session NAME",
        pid, NamesText(silent)));
  }
  if (!UserOfProcess(pid)) {
    return UsageError(
        fmt::format("no session and no run traces PID {}, and there is no such process", pid));
  }
  return UsageError(UntracedText(pid));
}

std::string NamesText(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(names.size(), kMost);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace leakgate
