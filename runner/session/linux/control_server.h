// The runner's end of the control protocol (common/control_protocol.h): tells
// each process that carries the agent whether it is traced, and hands the
// region to those that are.
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

#include "runner/util/expected.h"
#include "runner/util/linux/unique_fd.h"

namespace leakgate {

class ControlServer {
 public:
  // Called on the server's thread with a PID that the kernel vouches for. The
  // descriptor of a region to trace into, or -1 to stay off.
  using RegionFor = std::function<int(int pid)>;

  [[nodiscard]] static Expected<std::unique_ptr<ControlServer>> Start(RegionFor region_for);
  ~ControlServer();

  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // For the environment variable kControlVariable.
  const std::string& name() const { return name_; }

 private:
  ControlServer() = default;
  void Serve();
  void Answer(const UniqueFd& client);

  std::string name_;
  RegionFor region_for_;
  UniqueFd listener_;
  UniqueFd stop_;  // an eventfd: readable when the thread is to end
  std::thread thread_;
};

}  // namespace leakgate
