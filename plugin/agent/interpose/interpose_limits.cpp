// The limits of the process: the limit on its address space does not count the agent's memory. All
// others are forwarded unchanged. Programs of 64 bits have each call by two names.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/address_space_limit.h"

using namespace leakgate::agent;

namespace {

static_assert(sizeof(rlimit) == sizeof(rlimit64));

int Change(pid_t pid, int resource, const rlimit64* wanted, rlimit64* before) {
  const bool is_own = pid == 0 || pid == CurrentPid();
  if (resource != RLIMIT_AS || !is_own || CurrentRoute() != Route::kTrace) {
    return static_cast<int>(SystemCall(SYS_prlimit64, pid, resource, Word(wanted), Word(before)));
  }
  const int error = ChangeAddressSpaceLimit(wanted, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

const rlimit64* As64(const rlimit* limit) { return reinterpret_cast<const rlimit64*>(limit); }
rlimit64* As64(rlimit* limit) { return reinterpret_cast<rlimit64*>(limit); }

}  // namespace

LEAKGATE_EXPORT int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  return Change(0, static_cast<int>(resource), As64(limit), nullptr);
}
LEAKGATE_EXPORT int setrlimit64(__rlimit_resource_t resource, const rlimit64* limit) noexcept {
  return Change(0, static_cast<int>(resource), limit, nullptr);
}
LEAKGATE_EXPORT int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  return Change(0, static_cast<int>(resource), nullptr, As64(limit));
}
LEAKGATE_EXPORT int getrlimit64(__rlimit_resource_t resource, rlimit64* limit) noexcept {
  return Change(0, static_cast<int>(resource), nullptr, limit);
}
LEAKGATE_EXPORT int prlimit(pid_t pid, __rlimit_resource resource, const rlimit* limit,
                            rlimit* before) noexcept {
  return Change(pid, static_cast<int>(resource), As64(limit), As64(before));
}
LEAKGATE_EXPORT int prlimit64(pid_t pid, __rlimit_resource resource, const rlimit64* limit,
                              rlimit64* before) noexcept {
  return Change(pid, static_cast<int>(resource), limit, before);
}
