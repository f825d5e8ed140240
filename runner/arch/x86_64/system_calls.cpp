#include "runner/arch/system_calls.h"

#include <sys/syscall.h>

namespace leakgate {

std::int64_t NewerFormOf(std::int64_t call) {
  switch (call) {
    case SYS_epoll_wait:
      return SYS_epoll_pwait;
    case SYS_poll:
      return SYS_ppoll;
    case SYS_select:
      return SYS_pselect6;
    case SYS_pause:
      return SYS_rt_sigsuspend;
    default:
      return call;
  }
}

}  // namespace leakgate
