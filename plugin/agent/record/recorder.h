// Records what the interposed functions saw: the agent's hot path.
//
// The ordinary case is inline in the interposed functions and calls nothing: the thread is ready
// and in the present epoch, the memo proves the stack, and the live map has the block's chunk. All
// other cases are handled from the start by separate functions (RecordAllocationSlow, RecordFree).
// They are tail calls, so the interposed function needs no stack frame.
//
// All of this is called on the allocating thread, with tracing on. The host's errno is never
// changed: the agent makes its system calls directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/allocation_kind.h"
#include "plugin/agent/base/epoch.h"
#include "plugin/agent/events/event_writer.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/threads/recording.h"
#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/unwind/stack_check.h"
#include "plugin/agent/windows/counters.h"

namespace leakgate::agent {

// Returns whether this call is to be recorded. It is not if the allocator itself makes it, nor if
// it has interrupted the agent, which is counted as a drop. Makes the thread's state if there is
// none.
[[nodiscard]] bool CanRecord();

// Sets the kind of a block to `kind`: the host's own operator has allocated it by calling another
// function, and it was recorded with that function's kind.
void CorrectKind(void* block, AllocationKind kind);

// Called before the program's operator new is, with a foreign allocator's guard held.
void ForgetInnerBlocks();
// Returns the block that the operator has allocated by another function of the allocator's, if the
// object at `address` is inside of it: then the operator is the program's own, over its malloc.
[[nodiscard]] std::optional<InnerBlock> FindInnerBlock(const void* address);

// Makes `allowance` that of the live block that `address` points into; 0 is none. Does nothing if
// there is no such block.
void SetAllowanceOf(Recording recording, const void* address, std::uint32_t allowance);

// A function to be called at the next allocation that any thread makes. It is called while the
// agent holds no lock, and possibly on two threads at once.
enum class CallAgain { kNo, kYes };
using SlowPathCall = CallAgain (*)();
// Makes all threads take the slow path once, and calls `call` there until it returns kNo. Only one
// can be set at a time: a later one replaces it.
void CallOnSlowPath(SlowPathCall call);
// Runs such a call; for a fork child, which records nothing. Returns whether none is set now.
bool RunSlowPathCall();

// Returns `block`.
void* RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                           std::uint64_t caller_pc, std::uint64_t caller_sp,
                           std::uint64_t caller_fp);
// Updates the window's peak. Returns `block`.
void* NotePeakOf(void* block);

// Whether a recording has the event, too, or temporary blocks are counted. Plain tracing is
// compiled without it.
enum class Events { kNone, kWritten };

// Returns whether the thread has room for the events of a call; always true if none are written.
template <Events kEvents>
inline bool HasRoomFor(const ThreadState& thread) {
  return kEvents == Events::kNone || HasEventRoom(thread.events);
}

// Counts a block that is freed now, if the thread has allocated it in `context` and has allocated
// nothing since (Totals). Returns whether it has.
bool CountTemporary(const ThreadState& thread, std::uint32_t context, std::uint64_t size_bytes);
inline bool CountIfTemporary(const ThreadState& thread, const void* block, std::uint32_t context,
                             std::uint64_t size_bytes) {
  if (thread.events.last_block != block) return false;
  if (context != thread.context) return CountTemporary(thread, context, size_bytes);
  AddBlock(thread.shard->temporary, size_bytes);
  return true;
}

// Records a block that the host's allocator has just returned, unless it is nullptr. Returns
// `block`. REQUIRES: it is aligned to 16; stacks of its event are to be recorded.
template <Events kEvents = Events::kNone>
__attribute__((always_inline)) inline void* RecordAllocation(void* block, std::size_t size_bytes,
                                                             AllocationKind kind,
                                                             const CallerFrame& caller) {
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::SlotOfBlock(block);
  if (__builtin_expect(thread != nullptr && slot != nullptr && !LiveMap::IsLiveAt(slot) &&
                           thread->epoch == CurrentEpoch() && HasRoomFor<kEvents>(*thread),
                       1)) {
    BecomeBusy(own);
    const std::uint32_t* const stack = thread->memo.FindAgain(caller);
    if (__builtin_expect(stack != nullptr, 1)) {
      if constexpr (kChecksStacks) CheckStack(caller, *stack);
      if constexpr (kEvents == Events::kWritten) {
        if (AreEventsOn()) {
          WriteAllocation(thread->events, {reinterpret_cast<std::uint64_t>(block), size_bytes,
                                           *stack, thread->context, kind});
        }
        thread->events.last_block = block;
      }
      LiveMap::Write(slot, {size_bytes, *stack, thread->context, kind});
      const bool is_peak_due = CountAllocation(*thread->shard, size_bytes);
      BecomeReady(own, thread);
      return __builtin_expect(is_peak_due, 0) ? NotePeakOf(block) : block;
    }
    BecomeReady(own, thread);
  }
  return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
}

// Does the same if the stack is not to be recorded; then the block has UnwindEnd::kNotTaken.
template <Events kEvents>
void* RecordWithoutStack(void* block, std::size_t size_bytes, AllocationKind kind);

// Does what the next function does, if a recording has the event, too, or allocations are counted
// by stack. It is separate so that plain tracing saves no registers for it.
void* RecordAnyAllocationBeside(void* block, std::size_t size_bytes, AllocationKind kind,
                                std::uint64_t caller_pc, std::uint64_t caller_sp,
                                std::uint64_t caller_fp);

// Does the same for a block of any allocator, whether its stack is to be recorded or not.
inline void* RecordAnyAllocation(void* block, std::size_t size_bytes, AllocationKind kind,
                                 const CallerFrame& caller) {
  if (RecordsBeside()) {
    return RecordAnyAllocationBeside(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
  }
  if (!TakesStacksOf(StackEventOf(kind))) {
    return RecordWithoutStack<Events::kNone>(block, size_bytes, kind);
  }
  if (LiveMap::Find(reinterpret_cast<std::uint64_t>(block)) != nullptr) {
    return RecordAllocation(block, size_bytes, kind, caller);
  }
  return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
}

// Records that a block is about to be freed, if this thread has allocated it in the present window
// and `kind` may free it. Otherwise returns false and changes nothing: then RecordFree must do it.
// REQUIRES: the allocator has not been called yet, so that no other thread can own the address;
// stacks of frees are not to be recorded.
template <Events kEvents = Events::kNone>
__attribute__((always_inline)) inline bool RecordFreeHere(void* block, FreeKind kind) {
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::FindAligned(reinterpret_cast<std::uint64_t>(block));
  if (__builtin_expect(
          thread == nullptr || slot == nullptr || !LiveMap::IsLiveAt(slot, KindsFreedBy(kind)),
          0)) {
    return false;
  }
  const LiveRest rest = LiveMap::RestAt(slot);
  if (__builtin_expect(rest.context != thread->context || !HasRoomFor<kEvents>(*thread), 0)) {
    return false;
  }

  BecomeBusy(own);
  if constexpr (kEvents == Events::kWritten) {
    if (AreEventsOn()) WriteFree(thread->events, reinterpret_cast<std::uint64_t>(block));
  }
  LiveMap::Clear(slot);
  AddBlock(thread->shard->freed_here, LiveMap::SizeAt(slot, rest));
  if constexpr (kEvents == Events::kWritten) {
    CountIfTemporary(*thread, block, rest.context, LiveMap::SizeAt(slot, rest));
  }
  BecomeReady(own, thread);
  return true;
}

// Does the same for a block of the present window that another thread has allocated, or that this
// thread has allocated in another context of the window. Called if RecordFreeHere has returned
// false.
template <Events kEvents = Events::kNone>
bool RecordFreeInWindow(void* block, FreeKind kind);

// Returns the context of this thread's present allocations. Counts a drop and returns 0 if there is
// none left. Settles windows.
[[nodiscard]] std::uint32_t ContextNow(Recording recording);

// Adds a context to the region's. Counts a drop and returns 0 if the table is full.
[[nodiscard]] std::uint32_t AddContext(const ContextRecord& context);

// Counts the free of a block that was taken out of the map.
void CountFreed(Recording recording, const LiveRecord& record);

// Takes a live block out of the map, as if it were freed now. Its free, which comes later, is
// neither recorded nor considered a second one. REQUIRES: `slot` is that of `block`, which this
// thread is about to free.
void ForgetBlock(Recording recording, const void* block, LiveMap::Slot slot);

// The record of a block that was freed, for RestoreBlock.
struct FreedBlock {
  LiveRecord record;
  CountedFree counted;
  std::optional<std::uint32_t> freed_by;  // the stack for which the free is counted, if any
  bool was_temporary = false;             // and was counted as such
};

// Returns the stack at `caller`, for a call that allocates or does anything else.
std::uint32_t StackAt(Recording recording, const CallerFrame& caller);

// Does the same as RecordFreeHere if stacks of frees are recorded. In addition, the memo must prove
// the stack. REQUIRES: kStacksOfFree.
template <Events kEvents>
[[nodiscard]] bool RecordFreeByStackWith(void* block, const FreeCall& call);
[[nodiscard]] inline bool RecordFreeByStack(void* block, const FreeCall& call) {
  return RecordsEvents() ? RecordFreeByStackWith<Events::kWritten>(block, call)
                         : RecordFreeByStackWith<Events::kNone>(block, call);
}

// The trial's block while it is being freed, which counts for no stack; otherwise nullptr. Relaxed:
// other threads have no such block.
extern LEAKGATE_INTERNAL std::atomic<const void*> g_trial_block;

// Records that any block is about to be freed. Returns nothing if the block is not recorded. Notes
// a free that is an error. A block that is about to be reallocated is shown to the runner until
// EndReallocation, since the blocks to which it points are not lost.
std::optional<FreedBlock> RecordFree(void* block, const FreeCall& call);

// Does the same for a block of any allocator. Returns whether it was recorded.
inline bool RecordAnyFree(void* block, const FreeCall& call) {
  if (TakesStacksOf(kStacksOfFree)) {
    if (RecordFreeByStack(block, call)) return true;
  } else if (reinterpret_cast<std::uintptr_t>(block) % 16 == 0 && !RecordsEvents()) {
    if (RecordFreeHere(block, call.kind) || RecordFreeInWindow(block, call.kind)) return true;
  }
  return RecordFree(block, call).has_value();
}

// Does the same for a block that is about to be reallocated, at less cost if RecordFreeHere may
// record its free.
std::optional<FreedBlock> RecordFreeToReallocate(void* block, const CallerFrame& caller);

// Must be called when the block that was shown is recorded again, wherever it is now. REQUIRES: one
// of the two functions above has returned it.
void EndReallocation();

// Cancels a free that did not happen, since realloc failed: the block is live as before.
void RestoreBlock(void* block, const FreedBlock& freed);

}  // namespace leakgate::agent
