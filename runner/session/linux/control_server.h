// The runner's end of the control protocol (common/control_protocol.h): tells
// each process that carries the agent whether it is traced, hands the region to
// those that are, and takes what they tell of the programs that they execute.
//
// The socket is abstract, so nothing is left behind however the runner ends,
// and its name random. Only processes of the runner's own user are answered; of
// any user if the runner is root's.
// One thread of its own, from construction to destruction.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "common/control_protocol.h"
#include "runner/util/expected.h"
#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// What becomes of a process that carries the agent.
struct HelloReply {
  int region_fd = -1;        // to trace into; -1: to stay off
  std::uint32_t wants = 0;   // as Answer's
  std::uint32_t window = 0;  // likewise
};

// Called on the server's thread with a PID that the kernel vouches for, in the order in
// which the processes have connected.
struct ControlHandlers {
  std::function<HelloReply(int pid)> on_hello;
  std::function<void(int sender, const ExecNotice& notice)> on_exec = nullptr;
};

class ControlServer {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<ControlServer>> Start(ControlHandlers handlers);
  // What has been sent by now is still taken.
  ~ControlServer();

  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // For the environment variable kControlVariable.
  const std::string& name() const { return name_; }

 private:
  ControlServer() = default;
  void Serve();
  // False: nobody waits any more.
  bool ServeOne();
  void Serve(const UniqueFd& client);

  std::string name_;
  ControlHandlers handlers_;
  UniqueFd listener_;
  UniqueFd stop_;  // an eventfd: readable when the thread is to end
  std::thread thread_;
};

}  // namespace leakgate
