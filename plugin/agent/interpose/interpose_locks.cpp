// mlockall: the program's memory is locked, and the agent's is not. The region is sparse. Locking
// it would fill all of it, or fail if the program may lock only so much (RLIMIT_MEMLOCK).
//
//   mlockall(MCL_CURRENT | MCL_FUTURE)  ->  mlock of each mapping except the agent's own
//                                           mlockall(MCL_FUTURE)
//
// It fails where it would fail for the program's memory alone, and changes nothing then. MCL_FUTURE
// alone is forwarded unchanged, since it does not affect existing mappings.
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/memory_locks.h"

using namespace leakgate::agent;

LEAKGATE_EXPORT int mlockall(int flags) noexcept {
  static constinit std::atomic<bool> locks_future{false};
  const auto forward = [](int to_forward) {
    return g_host.mlockall != nullptr ? g_host.mlockall(to_forward)
                                      : static_cast<int>(SystemCall(SYS_mlockall, to_forward));
  };
  constexpr int kKnownFlags = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
  const bool is_ours =
      CurrentRoute() == Route::kTrace && (flags & MCL_CURRENT) != 0 && (flags & ~kKnownFlags) == 0;
  if (is_ours) {
    // Without MCL_FUTURE, the call cancels the effect of an earlier one.
    const bool is_future = (flags & MCL_FUTURE) != 0;
    if (locks_future.exchange(is_future, std::memory_order_relaxed) && !is_future) {
      RawSyscall(SYS_munlockall);
    }
    const int error =
        LockProgram((flags & MCL_ONFAULT) != 0 ? WhenFilled::kWhenTouched : WhenFilled::kNow);
    if (error != 0) {
      errno = error;
      return -1;
    }
    return is_future ? forward(flags & ~MCL_CURRENT) : 0;
  }
  const int result = forward(flags);
  if (result == 0) locks_future.store((flags & MCL_FUTURE) != 0, std::memory_order_relaxed);
  return result;
}
