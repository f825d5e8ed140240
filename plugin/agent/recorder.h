// Records what the interposed functions saw: the agent's hot path, all of it
// inline in them but for what is rare.
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

// Holds the thread's activity at kRecording.
class RecordingGuard {
 public:
  explicit RecordingGuard(ThreadState& thread) : recording_(thread) {
    thread.activity = Activity::kRecording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~RecordingGuard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    recording_.thread().activity = Activity::kHost;
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

  operator Recording() const { return recording_; }  // NOLINT(google-explicit-constructor)

 private:
  const Recording recording_;
};

// RecordingThread where this thread has no state yet, or is not the host's.
ThreadState* RecordingThreadSlow();

// The thread to record on; nullptr where this call is not to be recorded: it is
// the allocator's own, or (counted as a drop) interrupted the agent.
inline ThreadState* RecordingThread() {
  ThreadState* const thread = t_state;
  const bool is_host = thread != nullptr && thread->activity == Activity::kHost;
  return __builtin_expect(is_host, 1) ? thread : RecordingThreadSlow();
}

// Walks the stack at `caller`, and remembers it; its id.
std::uint32_t WalkStack(Recording recording, const CallerFrame& caller, std::uint32_t module_epoch);

// What must come before a thread's next block is recorded: see windows.h.
void Settle(Recording recording);

// A block that was freed where the agent does not look is gone all the same.
void ForgetReplaced(Recording recording, const LiveWords& replaced);

__attribute__((always_inline)) inline std::uint32_t StackOf(Recording recording,
                                                            const CallerFrame& caller) {
  const std::uint32_t module_epoch = g_modules.Epoch();
  const std::uint32_t known = recording.thread().memo.Find(caller, module_epoch);
  return __builtin_expect(known != 0, 1) ? known : WalkStack(recording, caller, module_epoch);
}

__attribute__((always_inline)) inline void Insert(Recording recording, std::uint64_t address,
                                                  const LiveWords& words) {
  const LiveMap::Slot slot = g_live_map.SlotFor(address);
  if (__builtin_expect(slot == nullptr, 0)) return;
  const LiveWords before = LiveMap::Read(slot);
  if (__builtin_expect(before.IsLive(), 0)) ForgetReplaced(recording, before);
  LiveMap::Write(slot, words);
  CountAllocation(*recording.thread().shard, DecodeStart(words.start).window,
                  DecodeRest(words.rest).size_bytes);
}

// A block that the host's allocator just returned; nullptr is not recorded.
__attribute__((always_inline)) inline void RecordAllocation(void* block, std::size_t size_bytes,
                                                            AllocationKind kind,
                                                            const CallerFrame& caller) {
  if (__builtin_expect(block == nullptr, 0)) return;
  ThreadState* const thread = RecordingThread();
  if (__builtin_expect(thread == nullptr, 0)) return;
  if (__builtin_expect(size_bytes > kMaxBlockBytes, 0)) {
    return g_region.Drop(DropReason::kBlockTooLarge);
  }
  const RecordingGuard guard(*thread);
  if (__builtin_expect((thread->opening_window | thread->closing_window) != 0, 0)) Settle(guard);

  const LiveStart start{g_region.header().current_window.load(std::memory_order_relaxed),
                        StackOf(guard, caller)};
  const LiveRest rest{size_bytes, thread->thread, kind};
  Insert(guard, reinterpret_cast<std::uint64_t>(block), {Encode(start), Encode(rest)});
}

// A block about to be freed. REQUIRES: the allocator does not know yet, so no
// other thread can own the address. Returns what was known, for RestoreBlock.
__attribute__((always_inline)) inline LiveWords RecordFree(void* block) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (__builtin_expect(slot == nullptr, 0)) return {};
  const LiveWords words = LiveMap::Read(slot);
  if (__builtin_expect(!words.IsLive(), 0)) return {};
  ThreadState* const thread = RecordingThread();
  if (__builtin_expect(thread == nullptr, 0)) return {};

  const RecordingGuard guard(*thread);
  LiveMap::Clear(slot);
  CountFree(*thread->shard, DecodeStart(words.start).window, DecodeRest(words.rest).size_bytes);
  return words;
}

// The free did not happen (realloc failed): the block is live as it was.
void RestoreBlock(void* block, const LiveWords& words);

}  // namespace leakgate::agent
