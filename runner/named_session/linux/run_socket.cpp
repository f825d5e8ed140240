#include "runner/named_session/linux/run_socket.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "runner/util/linux/process_status.h"

namespace leakgate {
namespace {

// A run answers at once, unless it has been stopped.
constexpr std::chrono::seconds kPatience(3);

std::string Prefix() { return fmt::format("leakgate-run-{}-", ::geteuid()); }

int NumberIn(const std::string& text) { return std::atoi(text.c_str()); }

std::set<int> WithAncestors(int pid) {
  std::set<int> line;
  while (pid > 0 && line.insert(pid).second) pid = NumberIn(StatusField(pid, pid, "PPid"));
  return line;
}

}  // namespace

UniqueFd ListenAsRun() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) return {};
  return ListenAs(fmt::format("{}{}-{:016x}", Prefix(), ::getpid(), random));
}

std::vector<RunSocket> FindRuns(int pid) {
  const std::set<int> line = WithAncestors(pid);
  std::vector<RunSocket> runs;
  for (const std::string& rest : ListeningNames(Prefix())) {
    const int run_pid = NumberIn(rest);
    if (run_pid > 0) runs.push_back({run_pid, Prefix() + rest, line.contains(run_pid)});
  }
  std::stable_partition(runs.begin(), runs.end(),
                        [](const RunSocket& run) { return run.is_ancestor; });
  return runs;
}

UniqueFd ConnectToRun(const RunSocket& run) {
  UniqueFd socket = ConnectTo(run.name, kPatience);
  return socket && PidOfPeer(socket) == run.run_pid ? std::move(socket) : UniqueFd();
}

std::string NameOfRun(int run_pid) { return fmt::format("the run with PID {}", run_pid); }

}  // namespace leakgate
