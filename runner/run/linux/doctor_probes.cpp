#include "runner/run/linux/doctor_probes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"
#include "runner/reach/linux/frozen_process.h"

namespace leakgate {
namespace {

[[noreturn]] void WaitToBeKilled() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::pause();
}

}  // namespace

Expected<void> TryToStopProcess() {
  const pid_t pid = ::fork();
  if (pid < 0) return InconclusiveError(fmt::format("cannot start a process: {}", ErrnoText()));
  if (pid == 0) WaitToBeKilled();

  // On a thread of its own, as frozen_process.h advises.
  const auto freeze = [pid]() -> Expected<void> {
    const Expected<FrozenProcess> process = FrozenProcess::Freeze(pid);
    return process ? Expected<void>() : Unexpected(process.error());
  };
  Expected<void> stopped = std::async(std::launch::async, freeze).get();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, __WALL);
  if (!stopped && YamaScope() > 1) {
    stopped.error().message +=
        fmt::format("; kernel.yama.ptrace_scope is {}: set it to 1", YamaScope());
  }
  return stopped;
}

std::optional<std::uint64_t> AddressSpaceLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace leakgate
