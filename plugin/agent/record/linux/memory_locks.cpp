#include "plugin/agent/record/memory_locks.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "plugin/agent/base/region.h"
#include "plugin/agent/linux/memory_maps.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

constexpr long kLockWhenTouched = 1;                           // MLOCK_ONFAULT
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;  // [vsyscall] is there

// Calls `use(begin, end)` for each part of [begin, end) that is not the agent's.
template <typename Use>
void ForEachPartOfProgram(std::uint64_t begin, std::uint64_t end, const Use& use) {
  const std::uint32_t count =
      std::min(g_region.header().own_range_count.load(std::memory_order_relaxed), kMaxOwnRanges);
  while (begin < end) {
    // The first of the agent's ranges from here on.
    std::uint64_t own_begin = end;
    std::uint64_t own_end = end;
    for (std::uint32_t i = 0; i < count; ++i) {
      const OwnRange& range = g_region.own_ranges()[i];
      // Acquire pairs with the release in NoteOwnMemory.
      const std::uint64_t last =
          std::atomic_ref(const_cast<std::uint64_t&>(range.end)).load(std::memory_order_acquire);
      if (last <= begin || range.begin >= own_begin) continue;
      own_begin = std::max(range.begin, begin);
      own_end = last;
    }
    if (own_begin > begin) use(begin, own_begin);
    begin = own_end;
  }
}

// Calls `use(begin, bytes)` for all memory of the program. Returns false if it cannot be read.
template <typename Use>
bool ForEachMappingOfProgram(const Use& use) {
  constexpr std::size_t kLine = kMaxPathBytes;
  constexpr std::size_t kBuffer = std::size_t{3} * kMaxPathBytes;
  char* const memory = static_cast<char*>(MapPrivate(kLine + kBuffer));
  if (memory == nullptr) return false;
  {
    MapsReader maps({memory, kLine}, {memory + kLine, kBuffer});
    for (MemoryMapping mapping; maps.Next(mapping);) {
      if (mapping.begin >= kKernelHalf) continue;
      ForEachPartOfProgram(mapping.begin, mapping.end, [&](std::uint64_t begin, std::uint64_t end) {
        use(static_cast<long>(begin), static_cast<long>(end - begin));
      });
    }
  }
  RawSyscall(SYS_munmap, Word(memory), static_cast<long>(kLine + kBuffer));
  return true;
}

bool MayLockAnything() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (IsError(RawSyscall(SYS_capget, Word(&header), Word(sets)))) return false;
  return (sets[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

std::uint64_t LockLimit() {
  rlimit64 limit{};
  if (IsError(RawSyscall(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, Word(&limit))))
    return RLIM64_INFINITY;
  return limit.rlim_cur;
}

}  // namespace

int LockProgram(WhenFilled filled) {
  std::uint64_t bytes = 0;
  const bool is_told =
      ForEachMappingOfProgram([&](long, long part) { bytes += static_cast<std::uint64_t>(part); });
  if (!is_told) return ENOMEM;
  const std::uint64_t limit = LockLimit();
  const bool is_too_much = bytes > limit;
  if (is_too_much && !MayLockAnything()) return limit == 0 ? EPERM : ENOMEM;

  // The first pass fills no pages, so an error is one of locking.
  int error = 0;
  (void)ForEachMappingOfProgram([&](long begin, long part) {
    const long result = RawSyscall(SYS_mlock2, begin, part, kLockWhenTouched);
    if (IsError(result) && is_too_much && error == 0) error = static_cast<int>(-result);
  });
  if (error != 0) {  // the process has that right only in a user namespace of its own
    (void)ForEachMappingOfProgram(
        [](long begin, long part) { RawSyscall(SYS_munlock, begin, part); });
    return error;
  }
  if (filled == WhenFilled::kWhenTouched) return 0;
  // Memory that cannot be filled (PROT_NONE) is locked in any case.
  (void)ForEachMappingOfProgram([](long begin, long part) { RawSyscall(SYS_mlock, begin, part); });
  return 0;
}

}  // namespace leakgate::agent
