#include "runner/process/interrupted_call.h"

#include <sys/syscall.h>

#include <cerrno>

namespace leakgate {

bool IsInterruptedByStops(std::uint64_t call) {
  switch (call) {
    case SYS_epoll_wait:
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

bool RestartInterruptedCall(user_regs_struct& registers) {
  // ERESTARTNOHAND of the kernel's include/linux/errno.h: a call with this result is restarted
  // unless a handler runs.
  constexpr long long kRestartUnlessHandled = 514;
  const auto result = static_cast<long long>(registers.rax);
  if (static_cast<long long>(registers.orig_rax) < 0 || result != -EINTR) return false;
  if (!IsInterruptedByStops(registers.orig_rax)) return false;
  registers.rax = static_cast<unsigned long long>(-kRestartUnlessHandled);
  return true;
}

}  // namespace leakgate
