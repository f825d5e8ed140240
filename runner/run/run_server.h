// Lets commands of other shells take snapshots of what a run traces, while it goes on.
//
//   query   answers with the processes and the amounts that they have live
//   region  answers with one process's status and its region's descriptor, for the command to read
//   hold    stops one process until the command says "release" or has gone
//   (else)  is refused, because only the run decides whether its processes are traced
//
// The run itself stops the process, because a process can have only one tracer and the run uses the
// same means to look for lost blocks. That search waits meanwhile. A command that does not release
// the process may hold it for kLongestHold at most.
//
// It has a thread of its own, in the runner, and serves one command at a time. The run never waits
// for it, and goes on without it if there is no socket.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <thread>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/process_status.h"

namespace leakgate {

struct SocketMessage;

class RunServer {
 public:
  static constexpr std::chrono::seconds kLongestHold{60};

  // Returns nullptr if no socket can be opened; then no command can ask.
  [[nodiscard]] static std::shared_ptr<RunServer> Start(RunProcesses processes);
  // Lets a held process continue.
  ~RunServer();
  RunServer(const RunServer&) = delete;
  RunServer& operator=(const RunServer&) = delete;

 private:
  RunServer(RunProcesses processes, UniqueFd listener, UniqueFd stop);

  void Serve();
  void ServeOne();
  void ServeClient(const UniqueFd& client) const;
  Expected<SocketMessage> Answer(const nlohmann::json& request) const;
  Expected<ProcessRegion> Find(const nlohmann::json& request) const;
  SocketMessage Query() const;
  void Hold(const UniqueFd& client, const nlohmann::json& request) const;
  Expected<void> AwaitRelease(const UniqueFd& client, int pid) const;
  static Unexpected HeldTooLong(int pid);
  static Unexpected HasEnded();

  const RunProcesses processes_;
  const UniqueFd listener_;
  const UniqueFd stop_;  // an eventfd, or an event: set when the thread is to end
  std::thread thread_;
};

}  // namespace leakgate
