// Records what the interposed functions saw: the agent's hot path.
//
// The ordinary case is inline in the interposed functions and calls nothing: the thread is ready
// and of the present epoch, the memo proves the stack, and the live map has the block's chunk. All
// other cases are for functions that do the whole from the start (RecordAllocationSlow,
// RecordFree). They are called last, so that the interposed function needs no stack frame.
//
// All of this is called on the allocating thread, with tracing on. The host's errno is never
// touched: the agent makes its system calls directly.
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

// Whether this call is to be recorded. It is not if it is the allocator's own, nor if it has
// interrupted the agent, which is counted as a drop. Makes the thread's state if there is none.
[[nodiscard]] bool CanRecord();

// Says that a block is of `kind`: the host's own operator has allocated it by calling another
// function, under whose kind it was recorded.
void CorrectKind(void* block, AllocationKind kind);

// What is to be done at the next allocation that any thread makes. It is called with nothing of the
// agent's held, and may be called on two threads at once.
enum class CallAgain { kNo, kYes };
using SlowPathCall = CallAgain (*)();
// Has all threads come the long way once, and `call` called there until it says that this is
// enough. There is one at a time: a later one takes its place.
void CallOnSlowPath(SlowPathCall call);
// Calls what waits so; for a fork child, which records nothing. Returns whether nothing waits now.
bool RunSlowPathCall();

// Returns `block`.
void* RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                           std::uint64_t caller_pc, std::uint64_t caller_sp,
                           std::uint64_t caller_fp);
// Looks at the window's peak. Returns `block`.
void* NotePeakOf(void* block);

// Whether a recording has the event, too, or temporary blocks are counted. What traces alone is
// compiled without it.
enum class Events { kNone, kWritten };

// Whether the thread has room for the events of a call; always, if none are written.
template <Events kEvents>
inline bool HasRoomFor(const ThreadState& thread) {
  return kEvents == Events::kNone || HasEventRoom(thread.events);
}

// Counts a block that is freed now, if the thread has allocated it in `context`, and nothing since
// (Totals). Returns whether it has.
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
  ThreadState* const thread = t_thread.ready;
  const LiveMap::Slot slot = LiveMap::SlotOfBlock(block);
  if (__builtin_expect(thread != nullptr && slot != nullptr && !LiveMap::IsLiveAt(slot) &&
                           thread->epoch == CurrentEpoch() && HasRoomFor<kEvents>(*thread),
                       1)) {
    BecomeBusy();
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
      BecomeReady(thread);
      return __builtin_expect(is_peak_due, 0) ? NotePeakOf(block) : block;
    }
    BecomeReady(thread);
  }
  return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
}

// The same where the stack is not to be recorded, which the block says then (UnwindEnd::kNotTaken).
template <Events kEvents>
void* RecordWithoutStack(void* block, std::size_t size_bytes, AllocationKind kind);

// The next one where a recording has the event, too, or allocations are counted by stack. Apart, so
// that tracing alone saves no registers for it.
void* RecordAnyAllocationBeside(void* block, std::size_t size_bytes, AllocationKind kind,
                                std::uint64_t caller_pc, std::uint64_t caller_sp,
                                std::uint64_t caller_fp);

// The same for a block of any allocator, whether its stack is to be recorded or not.
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
// and `kind` may free it. Returns false, and changes nothing, if not: then RecordFree is to do it.
// REQUIRES: the allocator does not know yet, so that no other thread can own the address; stacks of
// frees are not to be recorded.
template <Events kEvents = Events::kNone>
__attribute__((always_inline)) inline bool RecordFreeHere(void* block, FreeKind kind) {
  ThreadState* const thread = t_thread.ready;
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

  BecomeBusy();
  if constexpr (kEvents == Events::kWritten) {
    if (AreEventsOn()) WriteFree(thread->events, reinterpret_cast<std::uint64_t>(block));
  }
  LiveMap::Clear(slot);
  AddBlock(thread->shard->freed_here, LiveMap::SizeAt(slot, rest));
  if constexpr (kEvents == Events::kWritten) {
    CountIfTemporary(*thread, block, rest.context, LiveMap::SizeAt(slot, rest));
  }
  BecomeReady(thread);
  return true;
}

// The same for a block of the present window that another thread has allocated, or that this one
// has in another context of it. Called where RecordFreeHere has returned false.
template <Events kEvents = Events::kNone>
bool RecordFreeInWindow(void* block, FreeKind kind);

// Returns the context of what this thread allocates now. Counts a drop and returns 0 if there is
// none to be had. Settles windows.
[[nodiscard]] std::uint32_t ContextNow(Recording recording);

// Takes a live block out of the map, as if it were freed now. Its free, which comes later, is
// neither recorded nor taken for a second one.
// REQUIRES: `slot` is that of `block`, which is about to be freed by this thread.
void ForgetBlock(Recording recording, const void* block, LiveMap::Slot slot);

// What was known of a block that was freed, for RestoreBlock.
struct FreedBlock {
  LiveRecord record;
  CountedFree counted;
  std::optional<std::uint32_t> freed_by;  // the stack that the free is counted for, if any
  bool was_temporary = false;             // and counted so
};

// Returns the stack at `caller`, of a call that allocates or does anything else.
std::uint32_t StackAt(Recording recording, const CallerFrame& caller);

// The same as RecordFreeHere where stacks of frees are recorded. Besides, the memo must prove the
// stack. REQUIRES: kStacksOfFree.
template <Events kEvents>
[[nodiscard]] bool RecordFreeByStackWith(void* block, const FreeCall& call);
[[nodiscard]] inline bool RecordFreeByStack(void* block, const FreeCall& call) {
  return RecordsEvents() ? RecordFreeByStackWith<Events::kWritten>(block, call)
                         : RecordFreeByStackWith<Events::kNone>(block, call);
}

// The trial's block while it is freed, which counts for no stack; else nullptr. Relaxed: other
// threads have no such block.
extern LEAKGATE_INTERNAL std::atomic<const void*> g_trial_block;

// Records that any block is about to be freed. Returns nothing if the block is not recorded. Notes
// a free that must not be. A block that is about to be reallocated is shown to the runner until
// EndReallocation, since what it holds is not lost.
std::optional<FreedBlock> RecordFree(void* block, const FreeCall& call);

// The block that RecordFree has shown is recorded again, wherever it is now. REQUIRES: RecordFree
// has returned it.
void EndReallocation();

// Takes a free back that did not happen, since realloc failed: the block is live as it was.
void RestoreBlock(void* block, const FreedBlock& freed);

}  // namespace leakgate::agent
