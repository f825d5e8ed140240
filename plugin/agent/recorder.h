// Records what the interposed functions saw: the agent's hot path.
//
// The ordinary case is inline in the interposed functions and calls nothing:
// the thread has a state, the stack is proved by the memo, the live map has the
// block's chunk, the shard counts for the current window. Everything else is
// for the functions named ...Slow, which do the whole from the start.
//
// Called on the allocating thread, with tracing on. The host's errno is never
// touched: the agent makes its system calls directly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/allocation_kind.h"
#include "plugin/agent/counters.h"
#include "plugin/agent/live_map.h"
#include "plugin/agent/thread_state.h"

namespace leakgate::agent {

// Proof that this thread is recording, and nothing records twice. Only a
// RecordingGuard makes one; it is passed by value, in a register.
class Recording {
 public:
  ThreadState& thread() const { return *thread_; }

 private:
  friend class RecordingGuard;
  explicit Recording(ThreadState& thread) : thread_(&thread) {}

  ThreadState* thread_;
};

// Holds the thread's activity at kRecording. REQUIRES: CanRecord(), or that
// the activity is kHost.
class RecordingGuard {
 public:
  RecordingGuard() : recording_(*t_thread.state) {
    t_thread.activity = Activity::kRecording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RecordingGuard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.activity = Activity::kHost;
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

  operator Recording() const { return recording_; }  // NOLINT(google-explicit-constructor)

 private:
  const Recording recording_;
};

// True if this call is to be recorded; false if it is the allocator's own, or
// (counted as a drop) interrupted the agent. Makes the thread's state.
[[nodiscard]] bool CanRecord();

void RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                          const CallerFrame& caller);
LiveWords RecordFreeSlow(void* block);

// True if the block was recorded; false: nothing has been changed.
__attribute__((always_inline)) inline bool TryRecordAllocation(Recording recording,
                                                               std::uint64_t address,
                                                               std::size_t size_bytes,
                                                               AllocationKind kind,
                                                               const CallerFrame& caller) {
  ThreadState& thread = recording.thread();
  CounterShard& shard = *thread.shard;
  const LiveMap::Slot slot = LiveMap::Find(address);
  const std::uint32_t window = g_region.header().current_window.load(std::memory_order_relaxed);
  if (slot == nullptr || LiveMap::IsLiveAt(slot) || size_bytes > kMaxBlockBytes ||
      shard.window.load(std::memory_order_relaxed) != window) {
    return false;
  }
  const std::uint32_t stack = thread.memo.FindAgain(caller, g_modules.Epoch());
  if (stack == 0) return false;

  LiveMap::Write(
      slot, {Encode(LiveStart{window, stack}), Encode(LiveRest{size_bytes, thread.thread, kind})});
  CountAllocationHere(shard, size_bytes);
  return true;
}

// A block that the host's allocator just returned; nullptr is not recorded.
__attribute__((always_inline)) inline void RecordAllocation(void* block, std::size_t size_bytes,
                                                            AllocationKind kind,
                                                            const CallerFrame& caller) {
  if (__builtin_expect(t_thread.activity == Activity::kHost, 1)) {
    const RecordingGuard guard;
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (__builtin_expect(TryRecordAllocation(guard, address, size_bytes, kind, caller), 1)) return;
  }
  RecordAllocationSlow(block, size_bytes, kind, caller);
}

// A block about to be freed. REQUIRES: the allocator does not know yet, so no
// other thread can own the address. Returns what was known, for RestoreBlock.
__attribute__((always_inline)) inline LiveWords RecordFree(void* block) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (__builtin_expect(slot == nullptr, 0)) return {};
  const LiveWords words = LiveMap::Read(slot);
  if (__builtin_expect(!words.IsLive(), 0)) return {};

  if (__builtin_expect(t_thread.activity == Activity::kHost, 1)) {
    const RecordingGuard guard;
    CounterShard& shard = *static_cast<Recording>(guard).thread().shard;
    if (__builtin_expect(
            shard.window.load(std::memory_order_relaxed) == DecodeStart(words.start).window, 1)) {
      LiveMap::Clear(slot);
      AddBlock(shard.freed_here, DecodeRest(words.rest).size_bytes);
      return words;
    }
  }
  return RecordFreeSlow(block);
}

// The free did not happen (realloc failed): the block is live as it was.
void RestoreBlock(void* block, const LiveWords& words);

}  // namespace leakgate::agent
