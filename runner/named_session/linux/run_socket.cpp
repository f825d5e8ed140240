#include "runner/named_session/linux/run_socket.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// A run answers at once, unless it has been stopped.
constexpr std::chrono::seconds kRunPatience(3);

std::string RunPrefix() { return fmt::format("leakgate-run-{}-", ::geteuid()); }

int NumberIn(const std::string& text) { return std::atoi(text.c_str()); }

// "4711-0123456789abcdef", as ListenAsRun has it.
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

// Several may have its PID in their names, of which one is right.
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
      WaitOn(socket, kRunPatience);
      return socket;
    }
    if (!is_busy) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (std::chrono::steady_clock::now() < deadline);
  return {};
}

std::string NameOfRun(int run_pid) { return fmt::format("the run with PID {}", run_pid); }

}  // namespace leakgate
