// Records what the interposed functions saw: the agent's hot path.
//
// The ordinary case is inline in the interposed functions and calls nothing: the
// thread is ready and of the present epoch, the stack is proved by the memo, the
// live map has the block's chunk. Everything else is for the functions named
// ...Slow, which do the whole from the start; they are called last, so that they
// need no frame of the interposed function's.
//
// Called on the allocating thread, with tracing on. The host's errno is never
// touched: the agent makes its system calls directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/allocation_kind.h"
#include "plugin/agent/base/epoch.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/threads/recording.h"
#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/unwind/stack_check.h"
#include "plugin/agent/windows/counters.h"

namespace leakgate::agent {

// True if this call is to be recorded; false if it is the allocator's own, or
// (counted as a drop) interrupted the agent. Makes the thread's state.
[[nodiscard]] bool CanRecord();

// A block that the host's own operator allocated by calling another, under whose
// kind it was recorded, is of `kind`.
void CorrectKind(void* block, AllocationKind kind);

// Returns `block`.
void* RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                           std::uint64_t caller_pc, std::uint64_t caller_sp,
                           std::uint64_t caller_fp);
// The window's peak is to be looked at. Returns `block`.
void* NotePeakOf(void* block);

// A block that the host's allocator just returned; nullptr is not recorded.
// Returns `block`. REQUIRES: it is aligned to 16; stacks of its event are to be recorded.
__attribute__((always_inline)) inline void* RecordAllocation(void* block, std::size_t size_bytes,
                                                             AllocationKind kind,
                                                             const CallerFrame& caller) {
  ThreadState* const thread = t_thread.ready;
  const LiveMap::Slot slot = LiveMap::SlotOfBlock(block);
  if (__builtin_expect(thread != nullptr && slot != nullptr && !LiveMap::IsLiveAt(slot) &&
                           thread->epoch == CurrentEpoch(),
                       1)) {
    BecomeBusy();
    const std::uint32_t* const stack = thread->memo.FindAgain(caller);
    if (__builtin_expect(stack != nullptr, 1)) {
      if constexpr (kChecksStacks) CheckStack(caller, *stack);
      LiveMap::Write(slot, {size_bytes, *stack, thread->context, kind});
      const bool is_peak_due = CountAllocation(*thread->shard, size_bytes);
      BecomeReady(thread);
      return __builtin_expect(is_peak_due, 0) ? NotePeakOf(block) : block;
    }
    BecomeReady(thread);
  }
  return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
}

// The same where the stack is not to be recorded: the block says so (UnwindEnd::kNotTaken).
// Returns `block`.
void* RecordWithoutStack(void* block, std::size_t size_bytes, AllocationKind kind);

// The same for any allocator's block, and for either.
inline void* RecordAnyAllocation(void* block, std::size_t size_bytes, AllocationKind kind,
                                 const CallerFrame& caller) {
  if (!TakesStacksOf(StackEventOf(kind))) return RecordWithoutStack(block, size_bytes, kind);
  if (LiveMap::Find(reinterpret_cast<std::uint64_t>(block)) != nullptr) {
    return RecordAllocation(block, size_bytes, kind, caller);
  }
  return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
}

// A block about to be freed. REQUIRES: the allocator does not know yet, so no
// other thread can own the address; stacks of frees are not to be recorded. True: it was this
// thread's, of the present window, and is recorded; false: nothing is changed, RecordFree is to do
// it, also where `kind` must not free the block.
__attribute__((always_inline)) inline bool RecordFreeHere(void* block, FreeKind kind) {
  ThreadState* const thread = t_thread.ready;
  const LiveMap::Slot slot = LiveMap::FindAligned(reinterpret_cast<std::uint64_t>(block));
  if (__builtin_expect(
          thread == nullptr || slot == nullptr || !LiveMap::IsLiveAt(slot, KindsFreedBy(kind)),
          0)) {
    return false;
  }
  const LiveRest rest = LiveMap::RestAt(slot);
  if (__builtin_expect(rest.context != thread->context, 0)) return false;

  BecomeBusy();
  LiveMap::Clear(slot);
  AddBlock(thread->shard->freed_here, LiveMap::SizeAt(slot, rest));
  BecomeReady(thread);
  return true;
}

// The context of what this thread allocates now; 0, with a drop, if there is none to be
// had. Settles windows.
[[nodiscard]] std::uint32_t ContextNow(Recording recording);

// What was known of a block that was freed, for RestoreBlock.
struct FreedBlock {
  LiveRecord record;
  CountedFree counted;
  std::optional<std::uint32_t> freed_by;  // the stack that it is counted for, if for one
};

// The stack at `caller`, of a call that allocates or does anything else.
std::uint32_t StackAt(Recording recording, const CallerFrame& caller);

// A block about to be freed where stacks of frees are recorded. The same as RecordFreeHere,
// besides that the stack must be one that the memo proves. REQUIRES: kStacksOfFree.
[[nodiscard]] bool RecordFreeByStack(void* block, const FreeCall& call);

// The trial's block, while it is freed: that counts for no stack. Else nullptr.
extern LEAKGATE_INTERNAL std::atomic<const void*> g_trial_block;

// Any block about to be freed, likewise; no record: nothing. Notes what must not be.
std::optional<FreedBlock> RecordFree(void* block, const FreeCall& call);

// The free did not happen (realloc failed): the block is live as it was.
void RestoreBlock(void* block, const FreedBlock& freed);

}  // namespace leakgate::agent
