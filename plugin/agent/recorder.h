// Records what the interposed functions saw: the agent's hot path.
//
// Called on the allocating thread, with tracing on. The host's errno is never
// touched: the agent makes its system calls directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/allocation_kind.h"
#include "plugin/agent/live_map.h"
#include "plugin/agent/thread_state.h"

namespace leakgate::agent {

// Holds the thread's activity at kRecording; proof that nothing records twice.
class RecordingGuard {
 public:
  explicit RecordingGuard(ThreadState& thread) : thread_(thread), before_(thread.activity) {
    thread_.activity = Activity::kRecording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RecordingGuard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.activity = before_;
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

  ThreadState& thread() const { return thread_; }

 private:
  ThreadState& thread_;
  const Activity before_;
};

// The thread to record on; nullptr where this call is not to be recorded: it is
// the allocator's own, or (counted as a drop) interrupted the agent.
ThreadState* RecordingThread();

// A block that the host's allocator just returned; nullptr is not recorded.
void RecordAllocation(void* block, std::size_t size_bytes, AllocationKind kind,
                      const CallerFrame& caller);

// A block about to be freed. REQUIRES: the allocator does not know yet, so no
// other thread can own the address. Returns what was known, for RestoreBlock.
std::optional<LiveEntry> RecordFree(void* block);

// The free did not happen (realloc failed): the block is live as it was.
void RestoreBlock(void* block, const LiveEntry& entry);

}  // namespace leakgate::agent
