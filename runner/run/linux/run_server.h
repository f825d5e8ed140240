// Lets commands of other shells take snapshots of what a run traces, while it goes on.
//
//   query   the processes, with what they have live
//   region  one process's, with its descriptor: the command reads it itself
//   hold    one process is stopped until the command says "release", or has gone
//   (else)  refused: whether a run's process is traced is the run's affair
//
// The run stops a process itself, since it looks for lost blocks by the same means and one
// tracer keeps away another: so the run's own look waits, and finds what it would have found.
// A command that does not release is not waited for longer than kLongestHold.
//
// A thread of its own, in the runner, one command at a time. The run waits for nothing here,
// and goes on as well where no socket is to be had.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <thread>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/host/traced_image.h"

namespace leakgate {

struct SocketMessage;

class RunServer {
 public:
  static constexpr std::chrono::seconds kLongestHold{60};

  // Returns none where no socket can be had: then nobody can ask.
  [[nodiscard]] static std::shared_ptr<RunServer> Start(RunProcesses processes);
  // What is held goes on.
  ~RunServer();
  RunServer(const RunServer&) = delete;
  RunServer& operator=(const RunServer&) = delete;

 private:
  RunServer(RunProcesses processes, UniqueFd listener, UniqueFd stop);

  void Serve();
  void ServeOne();
  Expected<SocketMessage> Answer(const nlohmann::json& request) const;
  Expected<ProcessRegion> Find(const nlohmann::json& request) const;
  SocketMessage Query() const;
  void Hold(const UniqueFd& client, const nlohmann::json& request) const;
  Expected<void> AwaitRelease(const UniqueFd& client, int pid) const;

  const RunProcesses processes_;
  const UniqueFd listener_;
  const UniqueFd stop_;  // an eventfd: readable when the thread is to end
  std::thread thread_;
};

}  // namespace leakgate
