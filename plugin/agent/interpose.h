// What the files that define interposed functions share.
//
// Interposed functions guard and forward, nothing else. They run on any thread
// of the host, at any time from the dynamic linker's first allocation on.
#pragma once

#include <cstddef>

#include "plugin/agent/host_functions.h"
#include "plugin/agent/recorder.h"
#include "plugin/agent/startup.h"

#define LEAKGATE_EXPORT extern "C" __attribute__((visibility("default")))

namespace leakgate::agent {

// Holds while a foreign allocator works, which may call malloc itself. The C
// library's does not, and there an allocation in between is a signal handler's,
// to be recorded like any other.
class AllocatorGuard {
 public:
  AllocatorGuard() {
    if (!g_host.allocator_is_foreign || !IsTracing() || !EnsureThread()) return;
    before_ = t_thread.activity;
    is_held_ = true;
    t_thread.activity = Activity::kAllocator;
  }
  ~AllocatorGuard() {
    if (is_held_) t_thread.activity = before_;
  }
  AllocatorGuard(const AllocatorGuard&) = delete;
  AllocatorGuard& operator=(const AllocatorGuard&) = delete;

 private:
  Activity before_ = Activity::kUnknown;
  bool is_held_ = false;
};

// What to ask a foreign allocator for, so that the block covers two granules of
// the live map: glibc's always do.
inline std::size_t CoveringTwoGranules(std::size_t bytes) {
  constexpr std::size_t kTwoGranules = 32;
  return bytes < kTwoGranules ? kTwoGranules : bytes;
}

template <typename Forward>
__attribute__((noinline)) void* AllocateForeign(std::size_t bytes, const Forward& forward) {
  const AllocatorGuard guard;
  return forward(CoveringTwoGranules(bytes));
}

// Allocates `bytes`, or some more, by `forward`; records the block.
template <typename Forward>
__attribute__((always_inline)) inline void* Traced(AllocationKind kind, std::size_t bytes,
                                                   const CallerFrame& caller,
                                                   const Forward& forward) {
  void* const block = __builtin_expect(g_host.allocator_is_foreign, 0)
                          ? AllocateForeign(bytes, forward)
                          : forward(bytes);
  RecordAllocation(block, bytes, kind, caller);
  return block;
}

}  // namespace leakgate::agent
