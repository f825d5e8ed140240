#include "runner/session/linux/stop_rights.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "runner/reachability/linux/frozen_process.h"
#include "runner/util/linux/errno_text.h"

namespace leakgate {
namespace {

// 1, the usual, allows descendants. 0 where the kernel has no such setting.
int YamaScope() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return scope;
}

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
  Expected<void> stopped;
  std::thread([&] {
    const Expected<FrozenProcess> process = FrozenProcess::Freeze(pid);
    if (!process) stopped = Unexpected(process.error());
  }).join();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, __WALL);
  if (!stopped && YamaScope() > 1) {
    stopped.error().message +=
        fmt::format("; kernel.yama.ptrace_scope is {}: set it to 1", YamaScope());
  }
  return stopped;
}

}  // namespace leakgate
