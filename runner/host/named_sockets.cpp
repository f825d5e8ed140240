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

std::string NameOfRun(int run_pid) { return fmt::format("the run with PID {}", run_pid); }

namespace {

constexpr std::size_t kLongestName = 64;
// Enabling a running process may take a while, on a busy machine most of all.
constexpr std::chrono::seconds kSessionPatience(120);

std::string SessionPrefix() { return fmt::format("leakgate-session-{}-", ::geteuid()); }

}  // namespace

Expected<void> CheckSessionName(const std::string& name) {
  constexpr std::string_view kOthers = "._-";
  const bool is_good = std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
  if (is_good && !name.empty() && name.size() <= kLongestName) return {};
  return UsageError(
      fmt::format("'{}': not a session's name; write letters, digits, '.', '_' and '-', {} at most",
                  name, kLongestName));
}

Expected<UniqueFd> ListenAsSession(const std::string& name) {
  UniqueFd socket = ListenAs(SessionSocketName(name));
  if (socket) return socket;
  if (errno == EADDRINUSE) {
    return UsageError(
        fmt::format("the session '{0}' exists already; stop it (leakgate session stop {0}), or "
                    "choose another name",
                    name));
  }
  return InconclusiveError(fmt::format("cannot open the session's socket: {}", ErrnoText()));
}

Expected<UniqueFd> ConnectToSession(const std::string& name) {
  UniqueFd socket = ConnectTo(SessionSocketName(name), kSessionPatience);
  if (!socket) {
    if (errno != ECONNREFUSED && errno != ENOENT) {
      return InconclusiveError(fmt::format("cannot reach the session '{}': {}", name, ErrnoText()));
    }
    return UsageError(fmt::format(
        "there is no session '{}'; see leakgate session list, or start one: leakgate session start",
        name));
  }
  if (PeerIsThisUser(socket)) return socket;
  return InconclusiveError(
      fmt::format("the session '{}' is another user's; choose another name", name));
}

bool IsSessionName(const std::string& name) {
  return ConnectAtOnce(SessionSocketName(name)) || errno == EAGAIN;
}

std::vector<std::string> SessionNames() {
  std::vector<std::string> names = ListeningNames(SessionPrefix());
  std::erase_if(names, [](const std::string& name) { return !CheckSessionName(name); });
  return names;
}

std::string SessionSocketName(const std::string& name) { return SessionPrefix() + name; }

}  // namespace leakgate
