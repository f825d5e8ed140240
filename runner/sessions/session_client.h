// What the commands ask of runs (run_server.h). Each call connects anew.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/traced_status.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

struct PeerReply;
struct RunSocket;

// A run of this user's that goes on.
struct RunStatus {
  int run_pid = 0;
  std::vector<ProcessStatus> processes;
};

struct RunRegion {
  int run_pid = 0;
  ProcessStatus status;
  UniqueFd region;
};

// None: no run traces `pid`. An error: the run that it descends from does not answer.
[[nodiscard]] Expected<std::optional<RunRegion>> FindInRuns(int pid);
// The same where they have been asked with other peers: what `runs` replied.
[[nodiscard]] nlohmann::json RegionQuestion(int pid);
[[nodiscard]] Expected<std::optional<RunRegion>> FindInReplies(int pid,
                                                               const std::vector<RunSocket>& runs,
                                                               std::span<PeerReply> replies);

// A usage error if a run traces `pid`: whether it is traced is the run's affair.
[[nodiscard]] Expected<void> RequireInNoRun(int pid);

// A run's process, stopped by the run for as long as this lives, one minute at most.
class RunHold {
 public:
  // An error: it has ended, or cannot be stopped.
  [[nodiscard]] static Expected<RunHold> Take(int run_pid, int pid);

  // Lets it go on. An error: it has gone on before.
  [[nodiscard]] Expected<void> Release();

 private:
  RunHold(UniqueFd socket, int run_pid) : socket_(std::move(socket)), run_pid_(run_pid) {}

  UniqueFd socket_;
  int run_pid_;
};

// What the commands ask of a session's owner. Each call connects anew.

[[nodiscard]] Expected<SessionStatus> QuerySession(const std::string& name);

// The status after it.
[[nodiscard]] Expected<SessionStatus> UpdateSession(const std::string& name,
                                                    const SessionScope& add,
                                                    const SessionScope& drop);

// Processes that are traced still, since they could not be reached: why, a line each.
[[nodiscard]] Expected<std::vector<std::string>> StopSession(const std::string& name);

// A process that a session or a run traces now, or has, and its region.
struct FoundProcess {
  std::string session;  // empty: a run does
  int run_pid = 0;      // 0: a session does
  int pid = 0;
  ExecutedProgram program;
  bool has_ended = false;
  UniqueFd region;
};

// All that this user's sessions and runs say, asked at once. Those that have just ended are
// left out, and so are other users', but for those that do not answer: their names.
struct Survey {
  std::vector<SessionStatus> sessions;
  std::vector<RunStatus> runs;
  std::vector<std::string> silent;  // "the session 'a'", "the run with PID 4711"
};
[[nodiscard]] Survey SurveySessionsAndRuns();

// `pid`'s program of that generation, or, for 0, its newest. A usage error if the session
// does not trace it.
[[nodiscard]] Expected<FoundProcess> ProcessOfSession(const std::string& name, int pid,
                                                      std::uint32_t generation = 0);
// In whichever of this user's sessions traces it, or runs. A usage error if none does, unless one
// of its sessions does not answer.
[[nodiscard]] Expected<FoundProcess> FindProcess(int pid);

// "the session 'a', the run with PID 4711 and 3 more".
[[nodiscard]] std::string NamesText(const std::vector<std::string>& names);

}  // namespace leakgate
