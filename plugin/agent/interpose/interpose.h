// The parts that all files with interposed functions share.
//
// Interposed functions guard and forward, nothing else. They run on any thread
// of the host, at any time from the dynamic linker's first allocation on.
//
// The common functions come in two parts. The function itself handles one case, that of tracing the
// C library's own allocator, and the case that tracing is off. It passes every other case on by a
// tail call, so that it needs no stack frame.
#pragma once

#include <cerrno>
#include <cstddef>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/start/startup.h"

#include LEAKGATE_ARCH(hooked_entry)
#include LEAKGATE_ARCH(interposer)

#define LEAKGATE_EXPORT extern "C" __attribute__((visibility("default")))

namespace leakgate::agent {

// Does what the C library's wrapper does, for calls that come before the wrapper is known. Calls of
// mapping functions and of prctl never start the agent: the caller may be an allocator that is just
// starting.
inline long SystemCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                       long f = 0) {
  const long result = RawSyscall(number, a, b, c, d, e, f);
  if (!IsError(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Held while a foreign allocator works, which may call malloc itself. The C library's allocator
// does not: an allocation during it comes from a signal handler, and is recorded like any other.
class AllocatorGuard {
 public:
  AllocatorGuard() : is_held_(Begin()) {}
  ~AllocatorGuard() {
    if (is_held_) t_thread.LeaveAllocator();
  }
  AllocatorGuard(const AllocatorGuard&) = delete;
  AllocatorGuard& operator=(const AllocatorGuard&) = delete;

  // Returns whether LeaveAllocator has to follow.
  static bool Begin() {
    if (!g_host.allocator_is_foreign || !IsTracing() || !EnsureThread()) return false;
    t_thread.EnterAllocator();
    return true;
  }

 private:
  const bool is_held_;
};

// Returns what `forward` returns, with the guard held. If that throws, the guard is released by the
// frame's personality (interpose_new.cpp): a cleanup of C++ would need the program's C++ runtime,
// which may be linked into its executable.
template <typename Forward>
__attribute__((noinline)) void* GuardedThrowing(const Forward& forward) {
  asm volatile(".cfi_personality 0x1b, leakgate_release_allocator_guard");
  const bool is_held = AllocatorGuard::Begin();
  void* const block = forward();
  if (is_held) t_thread.LeaveAllocator();
  return block;
}

// How much to request from the host's allocator. A foreign one must allocate at least two granules
// of the live map, which glibc's blocks always cover.
inline std::size_t AskedOf(std::size_t bytes) {
  constexpr std::size_t kTwoGranules = 32;
  return g_host.allocator_is_foreign && bytes < kTwoGranules ? kTwoGranules : bytes;
}

// Allocates `bytes`, or some more, by `forward`, and records the block.
template <typename Forward>
__attribute__((always_inline)) inline void* Traced(AllocationKind kind, std::size_t bytes,
                                                   const CallerFrame& caller,
                                                   const Forward& forward) {
  void* block = nullptr;
  {
    const AllocatorGuard guard;
    block = forward(AskedOf(bytes));
  }
  return RecordAnyAllocation(block, bytes, kind, ThroughEntry(caller));
}

// Reallocates `block` to `bytes`, or some more, by `forward`, and records where it is then.
template <typename Forward>
void* TracedAgain(void* block, std::size_t bytes, const CallerFrame& called_from,
                  const Forward& forward) {
  const CallerFrame caller = ThroughEntry(called_from);
  const std::optional<FreedBlock> before = RecordFreeToReallocate(block, caller);
  void* moved = nullptr;
  {
    const AllocatorGuard guard;
    moved = forward(bytes == 0 ? 0 : AskedOf(bytes));
  }
  // With size 0, a null result means that the block was freed; otherwise it means failure.
  if (moved == nullptr && bytes != 0 && before) RestoreBlock(block, *before);
  RecordAnyAllocation(moved, bytes, AllocationKind::kRealloc, caller);
  if (before) EndReallocation();
  return moved;
}

}  // namespace leakgate::agent
