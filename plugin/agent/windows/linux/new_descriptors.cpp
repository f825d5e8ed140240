#include "plugin/agent/windows/new_descriptors.h"

#include <fcntl.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <ctime>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// The number that poll keeps on the kernel's own stack.
constexpr std::size_t kKept = 24;
// A program may have many descriptors open before its tests.
constexpr int kMostLooked = 4096;

constinit std::array<pollfd, kKept> g_free{};
constinit std::size_t g_free_count = 0;
constinit bool g_is_known = false;

bool IsFree(int descriptor) {
  return RawSyscall(SYS_fcntl, static_cast<long>(descriptor), long{F_GETFD}) == -EBADF;
}

}  // namespace

void ForgetFreeDescriptors() { g_is_known = false; }

void NoteFreeDescriptors() {
  if (g_is_known) return;
  g_is_known = true;
  g_free_count = 0;
  for (int number = 0; number < kMostLooked && g_free_count < kKept; ++number) {
    if (IsFree(number)) g_free[g_free_count++] = {.fd = number, .events = 0, .revents = 0};
  }
}

bool HasNewDescriptors() {
  if (!g_is_known || g_free_count == 0) return false;
  timespec no_wait{};
  constexpr long kSameSignals = 0;
  const long told = RawSyscall(SYS_ppoll, Word(g_free.data()), static_cast<long>(g_free_count),
                               Word(&no_wait), kSameSignals);
  if (told < 0) return false;
  for (std::size_t i = 0; i < g_free_count; ++i) {
    if ((g_free[i].revents & POLLNVAL) == 0) return true;
  }
  return false;
}

}  // namespace leakgate::agent
