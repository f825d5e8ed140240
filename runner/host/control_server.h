// The runner's end of the control protocol (common/control_protocol.h): tells
// each process that carries the agent whether it is traced, hands the region to
// those that are, and takes what they tell of the programs that they execute.
//
// The socket is abstract, so nothing is left behind however the runner ends,
// and its name random, but no secret: all users can see it in /proc/net/unix. Only processes
// of the runner's own user are heard; of any user if the runner is root's. Of these it hears
// whom `is_served` knows. Nobody who is slow, or silent, holds up another.
// One thread of its own, from construction to destruction.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/control_protocol.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// What becomes of a process that carries the agent.
struct HelloReply {
  int region_fd = -1;        // to trace into; -1: to stay off
  std::uint32_t wants = 0;   // as Answer's
  std::uint32_t window = 0;  // likewise
};

// What a process executes, as it or its parent tells.
struct ToldExec {
  int sender = 0;
  int pid = 0;                // that executes: the sender, or its child
  bool starts = false;        // false: what it was about to execute was not
  bool leaves_agent = false;  // the program's environment does not have the agent preloaded
  std::uint32_t window = 0;   // of the program under test, in which it started; 0: not known
  std::string path{};         // of the file that the kernel executes; empty: it was not
};

// Who has connected, as the kernel tells.
struct ControlPeer {
  int pid = 0;
  unsigned uid = 0;
  unsigned gid = 0;
};

// Whether `uid` is this process's own user.
[[nodiscard]] bool IsThisUser(unsigned uid);

// These are called on the server's thread with a PID that the kernel vouches for, in the order in
// which the processes have connected. What on_exec opens because of what it is told, it opens
// with the rights of the process that tells (util/linux/file_rights.h).
struct ControlHandlers {
  std::function<HelloReply(int pid)> on_hello;
  // Returns whether to hear what `peer` says on the socket named `name`. If it is not set, all are
  // heard.
  std::function<bool(const ControlPeer& peer, const std::string& name)> is_served = nullptr;
  std::function<void(const ToldExec& told)> on_exec = nullptr;
  // Nobody is served any more, nor waits: those that connect from now on stay untraced.
  // `why` is one line that says what to do. It is called at most once, after all others.
  std::function<void(const std::string& why)> on_failure = nullptr;
};

class ControlServer {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<ControlServer>> Start(ControlHandlers handlers);
  // Still takes what has been sent by now.
  ~ControlServer();

  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // For the environment variable kControlVariable.
  const std::string& name() const { return name_; }

 private:
  ControlServer() = default;
  void Serve();
  void ServeUntilStopped();
  void ServeTheLast();
  // Waits until somebody connects, speaks or goes. Returns true if the server is to stop.
  bool AwaitEvent() const;
  // Accepts as many as there is room for. Returns 0, or the errno that says why nobody can be.
  int AcceptAll();
  bool MayConnect(const ControlPeer& peer) const;
  // Serves those that have spoken, or gone, in the order in which they have connected.
  void ServeClients();
  void GiveUp(const std::string& why);

  using Clock = std::chrono::steady_clock;
  struct Client {
    UniqueFd socket;
    ControlPeer peer;
    Clock::time_point since;
  };
  enum class Next { kWait, kClose };
  Next Serve(const Client& client);

  std::string name_;
  ControlHandlers handlers_;
  std::vector<Client> clients_;  // that have not spoken yet
  bool others_wait_ = false;     // to be accepted, there being no room
  UniqueFd listener_;
  UniqueFd stop_;  // an eventfd: readable when the thread is to end
  std::thread thread_;
};

// Whether `peer` belongs to this process's own run, whose control socket is `control_name`: to its
// program and all that it has started, but for what left its tree and hides it. Another user's
// process belongs only if it is below this one now. One of this user's belongs also if it was
// started with the name in its environment, as daemons are, which have left the tree; or if it has
// ended since, so that its last words are not lost. This user's processes are not kept from posing
// as a run's: they could trace it as well.
[[nodiscard]] bool IsOfThisRun(const ControlPeer& peer, const std::string& control_name);

}  // namespace leakgate
