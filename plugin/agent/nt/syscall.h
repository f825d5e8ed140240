// What the kernel is asked for, by documented functions of kernel32 and ntdll. None of them
// allocates from a heap, or changes the thread's last error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace leakgate::agent {

[[nodiscard]] int CurrentTid();
[[nodiscard]] int CurrentPid();
void YieldThread();

// Returns whether the system has ended all threads but this one, wherever they were, so that what
// they held is this thread's. So it is while libraries are detached at the process's end.
[[nodiscard]] bool AreOtherThreadsGone();

// Returns where this thread's environment block is.
inline std::uint64_t OwnThreadPointer() {
  std::uint64_t pointer = 0;
  asm("movq %%gs:0x30, %0" : "=r"(pointer));
  return pointer;
}

inline void LeaveOutOfCoreDumps(void*, std::size_t) {}

// Commits private memory, which is zeroed. Returns nullptr if there is none.
void* MapPrivate(std::size_t bytes);
// Gives that back.
void Unmap(void* at, std::size_t bytes);
// There are no forks.
[[nodiscard]] constexpr bool WipeOnFork(void*, std::size_t) { return true; }

// Maps all of the section, whose handle is closed. The functions below commit parts of this view.
// Returns nullptr on failure.
char* MapSection(std::uint64_t section);

// Commits `bytes` of the section from `offset`. Returns nullptr on failure.
void* MapSharedAt(void* at, int fd, std::uint64_t offset, std::size_t bytes);
// Returns where they are, and commits nothing: MakeRoom does. REQUIRES: they are events' buffers.
void* MapSparseAt(void* at, int fd, std::uint64_t offset, std::size_t bytes);
// Commits the `bytes` that follow those of `mapped`. Returns nullptr on failure.
void* MapFollowing(void* mapped, std::size_t bytes);
void* MapFollowingAt(void* at, void* mapped, std::size_t bytes);

// Commits the pieces of the region's tables, or of its buffers of events, in which these bytes are,
// unless this has been done. Must be called before tables that fill up are written first
// (common/nt/region_limits.h). Returns false if there is no memory.
[[nodiscard]] bool MakeRoom(const void* at, std::size_t bytes);

// Tracing is not disabled while the process runs, so nothing is given back.
inline void Park(void*, std::size_t) {}

// Fills private memory of whole pages with zeros.
void ClearPages(void* at, std::size_t bytes);

// Returns whether anything is mapped or reserved at `address`.
bool IsMapped(std::uint64_t address);

// Returns whether the eight bytes at `address` can be read. Their address is aligned.
bool IsReadable(std::uintptr_t address);

// Waits for a moment. For waits of threads for each other that take microseconds, or for a runner
// that looks by itself.
bool WaitWhile(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t patience_ns);
inline void WakeWaiters(std::atomic<std::uint32_t>&) {}

// There are no signals.
constexpr bool IsOnSignalStack() { return false; }
constexpr std::uint64_t BlockSignals() { return 0; }
inline void RestoreSignals(std::uint64_t) {}

}  // namespace leakgate::agent
