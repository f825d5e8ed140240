// System calls made directly: without errno, which belongs to the host, and
// without the C library's wrappers, which the agent itself may interpose.
// RawSyscall returns the kernel's result: negative values are -errno.
#pragma once

#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plugin/agent/arch/processor.h"

#include LEAKGATE_ARCH(system_call)

namespace leakgate::agent {

template <typename T>
long Word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

inline bool IsError(long result) { return result < 0 && result > -4096; }

inline int CurrentTid() { return static_cast<int>(RawSyscall(SYS_gettid)); }
inline int CurrentPid() { return static_cast<int>(RawSyscall(SYS_getpid)); }
inline void YieldThread() { RawSyscall(SYS_sched_yield); }
inline void CloseDescriptor(int fd) { RawSyscall(SYS_close, fd); }

// Returns whether the system has ended all threads but this one, wherever they were, so that what
// they held is this thread's.
constexpr bool AreOtherThreadsGone() { return false; }

// Returns where this thread's own data begins, which no other thread has there.
inline std::uint64_t OwnThreadPointer() {
  return reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
}

// Leaves whole pages of the agent's out of core dumps.
void LeaveOutOfCoreDumps(void* begin, std::size_t bytes);

// Maps anonymous private memory, which is zeroed. Returns nullptr if there is none.
void* MapPrivate(std::size_t bytes);
// Gives that back.
void Unmap(void* at, std::size_t bytes);
// Has it filled with zeros in fork children. Returns false if the kernel cannot.
[[nodiscard]] bool WipeOnFork(void* at, std::size_t bytes);

// Maps `bytes` of `fd` from `offset`, shared, not inherited over fork, and in no core dump. Returns
// nullptr on failure.
void* MapShared(int fd, std::uint64_t offset, std::size_t bytes);

// Does the same in the place of the mapping at `at`, whole pages of the agent's own.
void* MapSharedAt(void* at, int fd, std::uint64_t offset, std::size_t bytes);
// Does the same for memory of which only parts are used: MakeRoom comes before each.
inline void* MapSparseAt(void* at, int fd, std::uint64_t offset, std::size_t bytes) {
  return MapSharedAt(at, fd, offset, bytes);
}

// Must be called before memory of the region's tables is written first. Returns false if there is
// none. The kernel gives it as it is written here.
constexpr bool MakeRoom(const void*, std::size_t) { return true; }

// Frees the memory at `at` and keeps the addresses, so that a thread which still reads or writes
// there does no harm.
void Park(void* at, std::size_t bytes);

// Maps the `bytes` that follow those of `mapped`, a shared mapping of `bytes`, in the same file.
// Needs no descriptor. Returns nullptr on failure.
void* MapFollowing(void* mapped, std::size_t bytes);
// Does the same in the place of the mapping at `at`.
void* MapFollowingAt(void* at, void* mapped, std::size_t bytes);

// Fills private memory of whole pages with zeros, and frees it until it is written.
void ClearPages(void* at, std::size_t bytes);

// Returns whether anything is mapped at `address`.
bool IsMapped(std::uint64_t address);

// Returns whether the eight bytes at `address` can be read.
bool IsReadable(std::uintptr_t address);

// Wakes all threads, of this process and of others, that wait in WaitWhile.
void WakeWaiters(std::atomic<std::uint32_t>& word);
// Waits at most so long while `word` is `value`. Returns false if the time was over. A wait that
// ends without a cause does no harm.
bool WaitWhile(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t patience_ns);

// Returns whether this thread runs on the stack that it has set aside for signal handlers.
bool IsOnSignalStack();

// Blocks all signals of this thread. Returns what was blocked before, for RestoreSignals.
std::uint64_t BlockSignals();
void RestoreSignals(std::uint64_t blocked);

}  // namespace leakgate::agent
