// What the commands ask of a session's owner. Each call connects anew.
#pragma once

#include <string>
#include <vector>

#include "runner/sessions/run_client.h"
#include "runner/sessions/session_status.h"

namespace leakgate {

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
