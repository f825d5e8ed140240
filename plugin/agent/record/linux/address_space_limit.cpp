#include "plugin/agent/record/address_space_limit.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

bool AreEqual(const rlimit64& a, const rlimit64& b) {
  return a.rlim_cur == b.rlim_cur && a.rlim_max == b.rlim_max;
}

// A limit that was raised for the kernel.
struct Raised {
  rlimit64 programs{};
  rlimit64 kernels{};
};
constinit SpinLock g_lock;
constinit bool g_is_raised = false;
constinit Raised g_raised{};

std::uint64_t OwnBytes() {
  std::uint64_t bytes = 0;
  const std::uint32_t count =
      std::min(g_region.header().own_range_count.load(std::memory_order_relaxed), kMaxOwnRanges);
  for (std::uint32_t i = 0; i < count; ++i) {
    OwnRange& range = g_region.own_ranges()[i];
    // Acquire pairs with the release in NoteOwnMemory.
    const std::uint64_t end = std::atomic_ref(range.end).load(std::memory_order_acquire);
    if (end > range.begin) bytes += end - range.begin;
  }
  return bytes;
}

// Returns everything that is mapped, as the limit counts it; 0 if it cannot be read. It is the
// first number of the file, in pages.
std::uint64_t MappedBytes() {
  const long fd = RawSyscall(SYS_openat, AT_FDCWD, Word("/proc/self/statm"), O_RDONLY | O_CLOEXEC);
  if (IsError(fd)) return 0;
  char text[32];
  const long bytes = RawSyscall(SYS_read, fd, Word(text), sizeof(text));
  CloseDescriptor(static_cast<int>(fd));
  std::uint64_t pages = 0;
  for (long i = 0; i < bytes && text[i] >= '0' && text[i] <= '9'; ++i) {
    pages = 10 * pages + static_cast<std::uint64_t>(text[i] - '0');
  }
  return pages * PageBytes();
}

long AskKernel(const rlimit64* wanted, rlimit64* before) {
  return RawSyscall(SYS_prlimit64, 0, RLIMIT_AS, Word(wanted), Word(before));
}

rlim64_t Larger(rlim64_t limit, std::uint64_t bytes, rlim64_t most) {
  if (limit == RLIM64_INFINITY || limit > RLIM64_INFINITY - bytes) return std::min(limit, most);
  return std::min<rlim64_t>(limit + bytes, most);
}

bool IsBelowWhatIsMapped(const rlimit64& wanted) {
  return wanted.rlim_cur != RLIM64_INFINITY && wanted.rlim_cur <= wanted.rlim_max &&
         wanted.rlim_cur < MappedBytes();
}

}  // namespace

int ChangeAddressSpaceLimit(const rlimit64* wanted, rlimit64* before) {
  if (wanted != nullptr && !IsReadable(reinterpret_cast<std::uintptr_t>(wanted))) return EFAULT;
  const SpinGuard guard(g_lock);
  rlimit64 kernels{};
  if (const long error = AskKernel(nullptr, &kernels); IsError(error)) {
    return static_cast<int>(-error);
  }
  const bool is_raised = g_is_raised && AreEqual(kernels, g_raised.kernels);
  const rlimit64 programs = is_raised ? g_raised.programs : kernels;
  if (wanted != nullptr) {
    const rlimit64 asked = *wanted;  // `before` may be the same
    rlimit64 given = asked;
    const bool raises = IsBelowWhatIsMapped(asked);
    if (raises) {
      const std::uint64_t own = OwnBytes();
      // If the program exceeds its own hard limit, the call fails, as it would without leakgate.
      const bool is_beyond = asked.rlim_max > programs.rlim_max;
      given.rlim_max = is_beyond ? asked.rlim_max : Larger(asked.rlim_max, own, kernels.rlim_max);
      given.rlim_cur = Larger(asked.rlim_cur, own, given.rlim_max);
    }
    if (const long error = AskKernel(&given, nullptr); IsError(error)) {
      return static_cast<int>(-error);
    }
    g_is_raised = raises;
    g_raised = {asked, given};
  }
  if (before != nullptr) *before = programs;
  return 0;
}

}  // namespace leakgate::agent
