#include "runner/cli/system_needs.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runner/base/descriptors.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// Without futexes the C library aborts a process that has threads, or uses a stream of the standard
// library. Such streams are made before main; so this looks, and ends the process, before them.
__attribute__((constructor(101))) void RequireFutexes() {
  const std::uint32_t word = 0;
  if (::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) >= 0) return;
  ::dprintf(STDERR_FILENO,
            "leakgate: threads cannot wait for each other: futex: %s; allow the call in the "
            "container\n",
            std::strerror(errno));
  ::_exit(static_cast<int>(ExitCode::kInconclusive));
}

}  // namespace

Expected<void> RequireSystem() {
  constexpr int kNoSignal = 0;
  if (::kill(::getpid(), kNoSignal) != 0) {
    return InconclusiveError(fmt::format(
        "no process can be ended: kill: {}; allow the call in the container", ErrnoText()));
  }
  return RequireProc();
}

}  // namespace leakgate
