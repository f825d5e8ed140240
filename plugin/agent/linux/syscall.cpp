#include "plugin/agent/linux/syscall.h"

#include <linux/futex.h>
#include <linux/mman.h>
#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "plugin/agent/arch/processor.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

void* MappedOrNull(long result) {
  return IsError(result) ? nullptr : reinterpret_cast<void*>(result);
}

}  // namespace

// Core dumps are for the program's memory. For a mapped file, the kernel would read the whole file,
// and the region is sparse.
void LeaveOutOfCoreDumps(void* begin, std::size_t bytes) {
  RawSyscall(SYS_madvise, Word(begin), static_cast<long>(bytes), MADV_DONTDUMP);
}

void* MapPrivate(std::size_t bytes) {
  return MappedOrNull(RawSyscall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void Unmap(void* at, std::size_t bytes) {
  RawSyscall(SYS_munmap, Word(at), static_cast<long>(bytes));
}

bool WipeOnFork(void* at, std::size_t bytes) {
  return !IsError(RawSyscall(SYS_madvise, Word(at), static_cast<long>(bytes), MADV_WIPEONFORK));
}

void* MapShared(int fd, std::uint64_t offset, std::size_t bytes) {
  return MapSharedAt(nullptr, fd, offset, bytes);
}

void* MapSharedAt(void* at, int fd, std::uint64_t offset, std::size_t bytes) {
  const long flags = MAP_SHARED | MAP_NORESERVE | (at == nullptr ? 0 : MAP_FIXED);
  void* const mapped =
      MappedOrNull(RawSyscall(SYS_mmap, Word(at), static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                              flags, fd, static_cast<long>(offset)));
  if (mapped != nullptr) {
    RawSyscall(SYS_madvise, Word(mapped), static_cast<long>(bytes), MADV_DONTFORK);
    LeaveOutOfCoreDumps(mapped, bytes);
  }
  return mapped;
}

void Park(void* at, std::size_t bytes) {
  RawSyscall(SYS_mmap, Word(at), static_cast<long>(bytes), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  LeaveOutOfCoreDumps(at, bytes);
}

void ClearPages(void* at, std::size_t bytes) {
  RawSyscall(SYS_madvise, Word(at), static_cast<long>(bytes), MADV_DONTNEED);
}

// mremap(2): an old size of 0 makes a second mapping of a shared one. It may be
// longer than the first, so it is made twice as long and its first half dropped.
void* MapFollowing(void* mapped, std::size_t bytes) {
  void* const both = MappedOrNull(
      RawSyscall(SYS_mremap, Word(mapped), 0, static_cast<long>(2 * bytes), MREMAP_MAYMOVE));
  if (both == nullptr) return nullptr;

  RawSyscall(SYS_munmap, Word(both), static_cast<long>(bytes));
  char* const following = static_cast<char*>(both) + bytes;
  RawSyscall(SYS_madvise, Word(following), static_cast<long>(bytes), MADV_DONTFORK);
  LeaveOutOfCoreDumps(following, bytes);
  return following;
}

void* MapFollowingAt(void* at, void* mapped, std::size_t bytes) {
  void* const following = MapFollowing(mapped, bytes);
  if (following == nullptr) return nullptr;
  return MappedOrNull(RawSyscall(SYS_mremap, Word(following), static_cast<long>(bytes),
                                 static_cast<long>(bytes), MREMAP_MAYMOVE | MREMAP_FIXED,
                                 Word(at)));
}

// mincore(2) fails with ENOMEM if nothing is mapped there.
bool IsMapped(std::uint64_t address) {
  unsigned char residency = 0;
  return RawSyscall(SYS_mincore, static_cast<long>(address), static_cast<long>(PageBytes()),
                    Word(&residency)) != -ENOMEM;
}

// rt_sigprocmask(2) copies the new mask before it checks `how`: a bad `how` changes nothing and
// distinguishes EFAULT from EINVAL. Abseil's AddressIsReadable does the same; sandboxes that forbid
// process_vm_readv allow it.
bool IsReadable(std::uintptr_t address) {
  constexpr long kNoSuchHow = ~0L;
  constexpr long kMaskBytes = 8;
  return RawSyscall(SYS_rt_sigprocmask, kNoSuchHow, static_cast<long>(address), 0, kMaskBytes) !=
         -EFAULT;
}

void WakeWaiters(std::atomic<std::uint32_t>& word) {
  RawSyscall(SYS_futex, Word(&word), FUTEX_WAKE, INT_MAX);
}

bool WaitWhile(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t patience_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const timespec patience{static_cast<time_t>(patience_ns / kSecond),
                          static_cast<long>(patience_ns % kSecond)};
  return RawSyscall(SYS_futex, Word(&word), FUTEX_WAIT, static_cast<long>(value),
                    Word(&patience)) != -ETIMEDOUT;
}

bool IsOnSignalStack() {
  stack_t stack{};
  return !IsError(RawSyscall(SYS_sigaltstack, 0, Word(&stack))) && stack.ss_flags == SS_ONSTACK;
}

namespace {

constexpr long kSignalSetBytes = 8;  // as the kernel has it

}  // namespace

std::uint64_t BlockSignals() {
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t blocked = 0;
  RawSyscall(SYS_rt_sigprocmask, SIG_SETMASK, Word(&all), Word(&blocked), kSignalSetBytes);
  return blocked;
}

void RestoreSignals(std::uint64_t blocked) {
  RawSyscall(SYS_rt_sigprocmask, SIG_SETMASK, Word(&blocked), 0, kSignalSetBytes);
}

}  // namespace leakgate::agent
