#include "runner/process/linux/ptrace_stops.h"

#include <sys/syscall.h>

#include <cerrno>

namespace leakgate {

bool IsInterruptedByStops(std::uint64_t call) {
  switch (NewerFormOf(static_cast<std::int64_t>(call))) {
    case SYS_epoll_pwait:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_io_getevents:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return true;
    default:
#ifdef SYS_epoll_pwait2
      return call == SYS_epoll_pwait2;
#else
      return false;
#endif
  }
}

bool RestartInterruptedCall(RegisterSet& registers) {
  const std::int64_t call = SystemCallOf(registers);
  if (call < 0 || static_cast<std::int64_t>(ResultOf(registers)) != -EINTR) return false;
  if (!IsInterruptedByStops(static_cast<std::uint64_t>(call))) return false;
  PrepareCallRestart(registers);
  return true;
}

}  // namespace leakgate
