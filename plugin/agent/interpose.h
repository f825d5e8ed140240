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
    if (!g_host.allocator_is_foreign) return;
    thread_ = CurrentThread();
    if (thread_ == nullptr) return;
    before_ = thread_->activity;
    if (before_ == Activity::kHost) thread_->activity = Activity::kAllocator;
  }
  ~AllocatorGuard() {
    if (thread_ != nullptr) thread_->activity = before_;
  }
  AllocatorGuard(const AllocatorGuard&) = delete;
  AllocatorGuard& operator=(const AllocatorGuard&) = delete;

 private:
  ThreadState* thread_ = nullptr;
  Activity before_ = Activity::kHost;
};

// What to ask the host's allocator for, so that the block covers two granules
// of the live map: glibc's always do.
inline std::size_t CoveringTwoGranules(std::size_t bytes) {
  constexpr std::size_t kTwoGranules = 32;
  return g_host.allocator_is_foreign && bytes < kTwoGranules ? kTwoGranules : bytes;
}

// Allocates by `forward`, and records the block.
template <typename Forward>
__attribute__((always_inline)) inline void* Traced(AllocationKind kind, std::size_t bytes,
                                                   const CallerFrame& caller, Forward forward) {
  void* block = nullptr;
  {
    const AllocatorGuard guard;
    block = forward();
  }
  RecordAllocation(block, bytes, kind, caller);
  return block;
}

}  // namespace leakgate::agent
