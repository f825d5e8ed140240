#include "runner/host/named_sockets.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <thread>

#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// A run answers at once, unless a signal has stopped it.
constexpr std::chrono::seconds kRunPatience(3);

std::string RunPrefix() { return fmt::format("leakgate-run-{}-", ::geteuid()); }

int NumberIn(const std::string& text) { return std::atoi(text.c_str()); }

// Returns whether `rest` looks like "4711-0123456789abcdef", which ListenAsRun makes.
bool IsOfARun(const std::string& rest) {
  const std::size_t dash = rest.find('-');
  if (dash == std::string::npos || dash > 9 || rest.size() != dash + 17) return false;
  return NumberIn(rest) > 0 && rest.find_first_not_of("0123456789") == dash &&
         rest.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
}

std::set<int> WithAncestors(int pid) {
  std::set<int> line;
  while (pid > 0 && line.insert(pid).second) pid = NumberIn(StatusField(pid, pid, "PPid"));
  return line;
}

}  // namespace

UniqueFd ListenAsRun() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) return {};
  return ListenAs(fmt::format("{}{}-{:016x}", RunPrefix(), ::getpid(), random));
}

std::vector<RunSocket> FindRuns(int pid) {
  const std::set<int> line = WithAncestors(pid);
  std::vector<RunSocket> runs;
  for (const std::string& rest : ListeningNames(RunPrefix())) {
    if (!IsOfARun(rest)) continue;
    const int run_pid = NumberIn(rest);
    runs.push_back({run_pid, RunPrefix() + rest, line.contains(run_pid)});
  }
  std::stable_partition(runs.begin(), runs.end(),
                        [](const RunSocket& run) { return run.is_ancestor; });
  return runs;
}

// Several sockets may have the PID in their names; the kernel says which one is the run's.
UniqueFd ConnectToRun(int run_pid) {
  const std::vector<RunSocket> runs = FindRuns();
  const auto deadline = std::chrono::steady_clock::now() + kRunPatience;
  do {
    bool is_busy = false;
    for (const RunSocket& run : runs) {
      if (run.run_pid != run_pid) continue;
      UniqueFd socket = ConnectAtOnce(run.name);
      is_busy = is_busy || (!socket && errno == EAGAIN);
      if (!socket || PidOfPeer(socket) != run_pid) continue;
      LimitWaits(socket, kRunPatience);
      return socket;
    }
    if (!is_busy) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (std::chrono::steady_clock::now() < deadline);
  return {};
}

namespace {

// Enabling a running process may take a while, especially on a busy machine.
constexpr std::chrono::seconds kSessionPatience(120);
// For a socket that has a session's name and accepts no connection: its user is unknown.
constexpr std::chrono::milliseconds kHolderPatience(500);
// No session's name contains this character.
constexpr char kOwnPart = ':';

std::string SessionPrefix() { return fmt::format("leakgate-session-{}-", ::geteuid()); }

// What was found under a session's name.
struct Holders {
  UniqueFd owner;           // connected; empty if none is this user's
  std::string other_user;   // the other user who holds the name: "another user (UID 65534)"
  bool is_unknown = false;  // true if no socket accepts a connection
  int error = 0;            // an errno, if the system does not allow connecting at all
};

// Whether a name in use may have no listener. That is so for a moment after another command has
// taken it.
enum class Silence { kNobody, kSomebody };

// Connects to each socket that has the session's name, and returns at the first that is this
// user's.
Holders MeetHolders(const std::string& name, Silence refusal, const std::string& except = "") {
  const auto deadline = std::chrono::steady_clock::now() + kHolderPatience;
  std::vector<std::string> sockets = {SessionPrefix() + name};
  for (const SessionSocket& session : FindSessions()) {
    if (session.name == name && session.socket != sockets[0]) sockets.push_back(session.socket);
  }
  std::erase(sockets, except);
  for (;;) {
    Holders holders;
    for (const std::string& socket : sockets) {
      UniqueFd peer = ConnectAtOnce(socket);
      if (peer && PeerIsThisUser(peer)) {
        holders.owner = std::move(peer);
        return holders;
      }
      if (peer) {
        holders.other_user = UserOfPeer(peer);
      } else if (errno == EAGAIN || (errno == ECONNREFUSED && refusal == Silence::kSomebody)) {
        holders.is_unknown = true;
      } else if (errno != ECONNREFUSED) {
        holders.error = errno;
      }
    }
    if (!holders.is_unknown || std::chrono::steady_clock::now() >= deadline) return holders;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Unexpected ExistsAlready(const std::string& name) {
  return UsageError(
      fmt::format("the session '{0}' exists already; stop it (leakgate session stop {0}), or "
                  "choose another name",
                  name));
}

// Listens under the session's name followed by a random part, since another user has the name
// itself.
Expected<UniqueFd> ListenBesideOtherUser(const std::string& name) {
  if (MeetHolders(name, Silence::kSomebody).owner) return ExistsAlready(name);
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) {
    return InconclusiveError(fmt::format("no random numbers to be had: {}", ErrnoText()));
  }
  const std::string own = fmt::format("{}{}{}{:08x}", SessionPrefix(), name, kOwnPart, random);
  UniqueFd socket = ListenAs(own);
  if (!socket) {
    return InconclusiveError(fmt::format("cannot open the session's socket: {}", ErrnoText()));
  }
  // Another command of this user may have done the same at the same time.
  if (MeetHolders(name, Silence::kNobody, own).owner) return ExistsAlready(name);
  return socket;
}

}  // namespace

Expected<UniqueFd> ListenAsSession(const std::string& name) {
  if (MeetHolders(name, Silence::kNobody).owner) return ExistsAlready(name);
  UniqueFd socket = ListenAs(SessionPrefix() + name);
  if (socket) return socket;
  if (errno == EADDRINUSE) return ListenBesideOtherUser(name);
  return InconclusiveError(fmt::format("cannot open the session's socket: {}", ErrnoText()));
}

Expected<UniqueFd> ConnectToSession(const std::string& name) {
  Holders holders = MeetHolders(name, Silence::kNobody);
  if (holders.owner) {
    LimitWaits(holders.owner, kSessionPatience);
    return std::move(holders.owner);
  }
  if (holders.error != 0) {
    return InconclusiveError(
        fmt::format("cannot reach the session '{}': {}", name, ErrnoText(holders.error)));
  }
  if (holders.is_unknown) {
    return InconclusiveError(fmt::format(
        "the process with the name of the session '{}' accepts no connections, and may be another "
        "user's; has its owner been stopped? If it is not yours, start a session of that name all "
        "the same",
        name));
  }
  const std::string holder = holders.other_user.empty()
                                 ? ""
                                 : fmt::format(" of yours: {} holds the name", holders.other_user);
  return UsageError(fmt::format(
      "there is no session '{}'{}; see leakgate session list, or start one: leakgate session start",
      name, holder));
}

bool IsSessionName(const std::string& name) {
  return static_cast<bool>(MeetHolders(name, Silence::kNobody).owner);
}

std::vector<SessionSocket> FindSessions() {
  std::vector<SessionSocket> sessions;
  for (const std::string& rest : ListeningNames(SessionPrefix())) {
    const std::string name = rest.substr(0, rest.find(kOwnPart));
    if (CheckSessionName(name)) sessions.push_back({name, SessionPrefix() + rest});
  }
  return sessions;
}

}  // namespace leakgate
