// What commands ask runs (run/run_server.h) and session owners (session_owner.h). Each call
// opens a connection of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/process_status.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

// A run of this user that has not ended.
struct RunStatus {
  int run_pid = 0;
  std::vector<ProcessStatus> processes;
};

// A process that a session or a run traces now, or has traced, and its region.
struct FoundProcess {
  std::string session;  // empty if a run traces it
  int run_pid = 0;      // 0 if a session traces it
  ProcessStatus status;
  UniqueFd region;

  bool HasEnded() const { return status.state == ProcessState::kEnded; }
};

// Returns the process `pid` of the run that traces it, or nullopt if no run does. Returns an error
// if the run that it descends from does not answer.
[[nodiscard]] Expected<std::optional<FoundProcess>> FindInRuns(int pid);

// Returns a usage error if a run traces `pid`, because only the run decides whether it is traced.
[[nodiscard]] Expected<void> RequireInNoRun(int pid);
// Returns a usage error if another session than `name` has enabled the process while it is
// suspended: until it continues, nothing in the process shows this.
[[nodiscard]] Expected<void> RequireInNoOtherSession(int pid, const std::string& name);

// Makes the run keep its process stopped for as long as this object lives, but for one minute at
// most.
class RunHold {
 public:
  // Returns an error if the process has ended or cannot be stopped.
  [[nodiscard]] static Expected<RunHold> Take(int run_pid, int pid);

  // Lets the process continue. Returns an error if it has continued before.
  [[nodiscard]] Expected<void> Release();

 private:
  RunHold(UniqueFd socket, int run_pid) : socket_(std::move(socket)), run_pid_(run_pid) {}

  UniqueFd socket_;
  int run_pid_;
};

[[nodiscard]] Expected<SessionStatus> QuerySession(const std::string& name);

// Returns the status after the update.
[[nodiscard]] Expected<SessionStatus> UpdateSession(const std::string& name,
                                                    const SessionScope& add,
                                                    const SessionScope& drop);

struct StoppedSession {
  std::vector<std::string> problems;  // a line for each process that is still traced, since it
                                      // could not be reached
  std::vector<RecordedFile> recordings;
  std::vector<std::string> unwritten;  // why others are not complete
  std::string failure;                 // why processes that began late are not traced, if any
};
[[nodiscard]] Expected<StoppedSession> StopSession(const std::string& name);

// What this user's sessions and runs answer when all are asked at once. Those that have just ended
// and those of other users are left out. Those that do not answer are listed by name.
struct Survey {
  std::vector<SessionStatus> sessions;
  std::vector<RunStatus> runs;
  std::vector<std::string> silent;  // "the session 'a'", "the run with PID 4711"
};
[[nodiscard]] Survey SurveySessionsAndRuns();

// Returns `pid`'s program of that generation, or its newest for 0. Returns a usage error if the
// session does not trace it.
[[nodiscard]] Expected<FoundProcess> ProcessOfSession(const std::string& name, int pid,
                                                      std::uint32_t generation = 0);

// Finds `pid` in this user's sessions and runs. Returns a usage error if none traces it and all
// sessions have answered.
[[nodiscard]] Expected<FoundProcess> FindProcess(int pid);

// "the session 'a', the run with PID 4711 and 3 more".
[[nodiscard]] std::string NamesText(const std::vector<std::string>& names);

}  // namespace leakgate
