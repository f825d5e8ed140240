// What the commands ask of runs (run_server.h). Each call connects anew.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/traced_status.h"

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

}  // namespace leakgate
