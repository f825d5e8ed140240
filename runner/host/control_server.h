// The runner's end of the control protocol (common/control_protocol.h). It tells each process that
// carries the agent whether it is traced, gives the traced ones their regions, and receives what
// they report of the programs that they execute.
//
// The socket is abstract, so it disappears with the runner. Its name is random but not secret: all
// users can see it in /proc/net/unix. The server hears only processes of the runner's own user, or
// of any user if the runner is root's, and of these only the ones that `is_served` accepts; others
// are disconnected at once.
//
// A process that is silent, or one that connects again and again, delays no other: all are accepted
// as they come. Only so many of those that have sent no message yet stay connected, a share of the
// descriptors that this process may open. If one more comes, the server disconnects the oldest
// connection of the process that has most of them, of the user who has most of them. Clients that
// have sent their message are answered in turns, some of each user.
//
// If something cannot be served for lack of memory, threads or descriptors at the moment, this is
// reported, and the server continues.
//
// The server has one thread of its own, from construction to destruction.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/control_protocol.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// The answer to a process that carries the agent.
struct HelloReply {
  int region_fd = -1;        // the region to trace into; -1 if the process is not traced
  std::uint32_t wants = 0;   // as in Answer
  std::uint32_t window = 0;  // as in Answer
};

// An exec, as the executing process or its parent reports it.
struct ReportedExec {
  int sender = 0;
  int pid = 0;                // the process that executes: the sender or its child
  bool starts = false;        // false if an exec that was reported before has failed
  bool leaves_agent = false;  // the program's environment does not preload the agent
  std::uint32_t window = 0;   // the window of the program under test in which it started, if known
  std::string path{};         // the file that the kernel executes; empty unless `starts`
};

// When a process began that does not ask by itself: at some time between the two, by the clock of
// the windows' times.
struct BeginTimes {
  std::chrono::steady_clock::time_point earliest = {};
  std::chrono::steady_clock::time_point latest = {};
};

// A process of which the server hears, where children are not traced and so do not ask.
struct StartedProcess {
  BeginTimes began;
  std::string image;                   // empty if it is not known
  std::vector<std::string> arguments;  // the program's name first; empty if they are not known
};

// A connected process, as the kernel reports it.
struct ControlPeer {
  int pid = 0;
  unsigned uid = 0;
  unsigned gid = 0;
  // What it says itself, in its Hello.
  bool is_forked = false;    // it was forked by a traced process, and has executed nothing
  std::uint32_t window = 0;  // as in Hello
  std::optional<StartedProcess> started = {};
};

// Returns the program that it runs, and that one's arguments; empty if they are not known.
[[nodiscard]] std::string ProgramOf(const ControlPeer& peer);
[[nodiscard]] std::vector<std::string> ArgumentsOf(const ControlPeer& peer);

// Returns whether `uid` is this process's own user.
[[nodiscard]] bool IsThisUser(unsigned uid);

// The server calls these on its own thread, in the order in which the processes have connected. The
// PIDs come from the kernel. During on_exec, files are opened with the rights of the reporting
// process (FileRights in base/regular_file.h).
struct ControlHandlers {
  std::function<HelloReply(const ControlPeer& peer)> on_hello;
  // Returns whether to hear `peer` on the socket named `name`. If it is not set, all are heard.
  std::function<bool(const ControlPeer& peer, const std::string& name)> is_served = nullptr;
  std::function<void(const ReportedExec& exec)> on_exec = nullptr;
  // Called for each process that could not be served, so that it stays untraced; the server goes
  // on. `why` is one line that says what to do.
  std::function<void(const ControlPeer& peer, const std::string& why)> on_unserved = nullptr;
  // Called at most once, as the last of these, if the server has to give up: processes that connect
  // later stay untraced. `why` likewise.
  std::function<void(const std::string& why)> on_failure = nullptr;
};

class ChildNotes;

class ControlServer {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<ControlServer>> Start(ControlHandlers handlers);
  // Serves what has been sent by now, then stops.
  ~ControlServer();

  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // The socket's name, for the environment variable kControlVariable.
  const std::string& name() const { return name_; }

  // Answers for a process that does not ask by itself: where the runner hands a suspended process
  // its region (run/hand_over.h). REQUIRES: no process asks meanwhile.
  // On Windows, the server then also answers for each process that this one starts.
  [[nodiscard]] HelloReply AnswerFor(const ControlPeer& peer);

 private:
  ControlServer() = default;
  void Serve();
  void ServeRemaining();
  // Waits until a process connects, sends or disconnects. Returns true if the server has to stop.
  bool AwaitEvent() const;
  // Accepts the processes that wait, in the order in which they came. Returns false if more may
  // wait. Throws std::system_error if none can be accepted.
  bool AcceptAll();
  // Accepts one; empty if none waits, or the one has gone.
  UniqueFd Accept();
  bool MayConnect(const ControlPeer& peer);
  // Serves the processes that have sent or disconnected, in the order in which they connected, some
  // of each user. Returns whether any had.
  bool ServeClients();
  // Drops the client that OldestSilent names, and returns true; or waits a moment for it if `waits`
  // and it has not had its time yet. REQUIRES: there is a client.
  enum class Waits { kForOwnUser, kForAll };
  bool PauseOrDrop(Waits waits);
  [[nodiscard]] std::ptrdiff_t OldestSilent() const;  // in clients_
  void NoteUnserved(const ControlPeer& peer, const std::exception& error);
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
  std::size_t most_clients_ = 0;
  std::vector<Client> clients_;  // those that have not been served yet, the oldest first
  UniqueFd listener_;            // on Windows a completion port, which is told of new processes
  UniqueFd stop_;                // an eventfd: readable when the thread is to end
  UniqueFd spare_;               // given up to accept one more where no descriptor is left
  std::shared_ptr<ChildNotes> notes_;  // on Windows: of the processes that the program has started
  std::thread thread_;
};

// Returns whether a control server listens under `name`.
[[nodiscard]] bool IsControlName(const std::string& name);

// Returns whether `peer` belongs to this process's own run, whose control socket is `control_name`:
// whether it is the run's program or descends from it.
//
// Another user's process belongs only if it is now below this one in the process tree. A process of
// this user also belongs if the name is in its environment, as with daemons, which have left the
// tree, or if it has ended since, so that its last message is not lost. This user's processes could
// pretend to belong; that does no harm, because they could trace the run as well.
[[nodiscard]] bool IsOfThisRun(const ControlPeer& peer, const std::string& control_name);

}  // namespace leakgate
