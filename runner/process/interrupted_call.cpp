#include "runner/process/interrupted_call.h"

#include <sys/syscall.h>

#include <cerrno>

namespace leakgate {
namespace {

// What the kernel restarts by itself unless a handler runs (include/linux/errno.h).
constexpr long long kRestartUnlessHandled = 514;

}  // namespace

bool EndsWhenStopped(std::uint64_t call) {
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

bool BeginAgain(user_regs_struct& registers) {
  const auto result = static_cast<long long>(registers.rax);
  if (static_cast<long long>(registers.orig_rax) < 0 || result != -EINTR) return false;
  if (!EndsWhenStopped(registers.orig_rax)) return false;
  registers.rax = static_cast<unsigned long long>(-kRestartUnlessHandled);
  return true;
}

}  // namespace leakgate
