#include "plugin/agent/record/recorder.h"

#include <algorithm>

#include "common/system.h"
#include "plugin/agent/arch/call_on_stack.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/record/pooled_memory.h"
#include "plugin/agent/record/stack_table.h"
#include "plugin/agent/windows/phases.h"
#include "plugin/agent/windows/windows.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

constinit std::atomic<const void*> g_trial_block{nullptr};

namespace {

constinit std::atomic<SlowPathCall> g_slow_path_call{nullptr};

void CountWalk(ThreadState& thread, std::uint32_t kept) {
  CounterShard& shard = *thread.shard;
  AddAsOwner(shard.stacks_walked, 1);
  AddAsOwner(shard.frames_walked, thread.trail.depth - kept);
  AddAsOwner(shard.rules_made, thread.walker.TakeRulesMade());
  if (!thread.trail.is_provable) AddAsOwner(shard.stacks_unprovable, 1);
}

__attribute__((noinline)) std::uint32_t WalkStack(ThreadState& thread, const CallerFrame& caller) {
  const std::uint32_t kept = thread.walker.Walk(g_modules, caller, thread.trail);
  CountWalk(thread, kept);
  const StackTable::Interned stack = g_stacks.Intern(kept, thread.trail);
  // A stack that is seen for the first time will often be seen only once.
  if (!stack.is_new) thread.memo.Remember(caller, thread.trail, stack.id);
  return stack.id;
}

// The stack that is walked, and the id that it has.
struct StackToWalk {
  ThreadState& thread;
  const CallerFrame& caller;
  std::uint32_t id = 0;
};

void WalkGivenStack(void* given) {
  auto& stack = *static_cast<StackToWalk*>(given);
  stack.id = WalkStack(stack.thread, stack.caller);
}

// A signal handler's stack may have room for hardly more than the handler (MINSIGSTKSZ), so the
// stack is walked on a stack of the agent's own. No handler can run meanwhile, because the kernel
// would begin it where this one's frames are. If there is no memory, the walk is tried on the
// present stack.
__attribute__((noinline)) std::uint32_t WalkHandlersStack(ThreadState& thread,
                                                          const CallerFrame& caller) {
  constexpr std::size_t kBytes = 64 * 1024;
  if (thread.walking_stack == nullptr) thread.walking_stack = static_cast<char*>(MapOwn(kBytes));
  if (thread.walking_stack == nullptr) return WalkStack(thread, caller);
  StackToWalk stack{thread, caller};
  const std::uint64_t blocked = BlockSignals();
  leakgate_call_on_stack(thread.walking_stack + kBytes, WalkGivenStack, &stack);
  RestoreSignals(blocked);
  return stack.id;
}

std::uint32_t StackOf(Recording recording, const CallerFrame& caller) {
  ThreadState& thread = recording.thread();
  if (const std::optional<std::uint32_t> known = thread.memo.Find(caller)) return *known;
  const bool may_be_handlers = !thread.walker.IsSurelyOnOwnStack(caller.sp);
  return may_be_handlers && IsOnSignalStack() ? WalkHandlersStack(thread, caller)
                                              : WalkStack(thread, caller);
}

// Returns whether the thread is initialising a local static variable, and has begun to in this
// window.
bool IsInStatic(const ThreadState& thread, std::uint32_t window) {
  for (std::uint32_t i = 0; i < thread.begun_static_count; ++i) {
    if (thread.begun_statics[i].window == window) return true;
  }
  return false;
}

std::uint32_t MakeContext(const Charge& charge, const ThreadState& thread, bool is_static) {
  return AddContext({.window = charge.window,
                     .thread = static_cast<std::uint16_t>(thread.thread),
                     .is_static = static_cast<std::uint16_t>(is_static ? 1 : 0),
                     .pool = 0,
                     .allowance = thread.allowance,
                     .phase = charge.phase});
}

// Returns a context that differs from `context` in the allowance alone. The thread keeps the last
// one, for the next block of a loop.
std::uint32_t WithAllowance(ThreadState& thread, std::uint32_t context, std::uint32_t allowance) {
  ChangedContext& last = thread.changed_context;
  if (last.from == context && last.allowance == allowance && last.to != 0) return last.to;
  ContextRecord changed = g_region.contexts()[context];
  if (changed.allowance == allowance) return context;
  changed.allowance = allowance;
  last = {context, allowance, AddContext(changed)};
  return last.to;
}

bool IsFor(const KnownContext& known, const Charge& charge, std::uint32_t allowance,
           bool is_static) {
  return known.window == charge.window && known.phase == charge.phase &&
         known.allowance == allowance && known.is_static == is_static && known.context != 0;
}

std::uint32_t ContextOf(ThreadState& thread) {
  const Charge charge = ChargeOf(*thread.shard);
  const bool is_static = IsInStatic(thread, charge.window);
  const std::uint32_t mixed =
      charge.window ^ (thread.allowance * 5) ^ (charge.phase * 11) ^ (is_static ? 23 : 0);
  KnownContext& known = thread.known_contexts[mixed % kKnownContexts];
  if (!IsFor(known, charge, thread.allowance, is_static)) {
    known = {charge.window, thread.allowance, charge.phase, MakeContext(charge, thread, is_static),
             is_static};
  }
  return known.context;
}

// Returns the current window and phase: those for which a thread's shard counts, or soon will. The
// window is only a number: the counts in its record begin at 0, whichever thread comes first.
Charge CurrentCharge() {
  return {g_region.header().current_window.load(std::memory_order_relaxed), CurrentPhase()};
}

// Makes the thread count for the current window and phase. Its allocations there need a context of
// their own: see Refresh.
void MoveToCurrentWindow(ThreadState& thread) {
  const Charge charge = CurrentCharge();
  if (ChargeOf(*thread.shard) == charge) return;
  NotePhaseOf(charge.phase, thread.thread);
  HandOver(*thread.shard, charge);
  thread.ForgetContext();
}

// Updates the thread's copies to the present epoch. Counts a drop and returns false if there is no
// context left.
[[nodiscard]] bool Refresh(Recording recording) {
  ThreadState& thread = recording.thread();
  const std::uint64_t epoch = CurrentEpoch();
  if (thread.epoch == epoch) return true;

  MoveToCurrentWindow(thread);
  if (thread.context == 0) thread.context = ContextOf(thread);
  if (thread.context == 0) return false;
  thread.memo.Enter(g_modules.Epoch());
  thread.epoch = epoch;
  return true;
}

Charge ChargeOfContext(std::uint32_t context) {
  const ContextRecord& record = g_region.contexts()[context];
  return {record.window, record.phase};
}
Charge ChargeOf(const LiveRecord& record) { return ChargeOfContext(record.context); }

// Returns whether the shard counts for the current window and phase, and `context` belongs to them.
__attribute__((always_inline)) inline bool IsOfNow(const CounterShard& shard,
                                                   std::uint32_t context) {
  // Relaxed: numbers are compared, and no other memory is read through them.
  const Charge now{g_region.header().current_window.load(std::memory_order_relaxed),
                   g_phase.load(std::memory_order_relaxed)};
  return agent::ChargeOf(shard) == now && ChargeOfContext(context) == now;
}

constexpr auto kNoStack = static_cast<std::uint32_t>(UnwindEnd::kNotTaken);

bool IsTrialBlock(const void* block) {
  return block == g_trial_block.load(std::memory_order_relaxed);
}

// Any thread may count frees and allocations here; when this is used, neither is hot. Release pairs
// with the acquire of the runner, which reads blocks first: so it sees their bytes.
void CountBy(Tally& tally, std::uint64_t bytes) {
  tally.bytes.fetch_add(bytes, std::memory_order_relaxed);
  tally.blocks.fetch_add(1, std::memory_order_release);
}

void CountFreedBy(std::uint32_t stack, std::uint64_t bytes) {
  CountBy(g_region.freed_by()[stack], bytes);
}

// Counts a block that has just been recorded, before the program gets it: so its slot still has
// what was written there, if anything was.
void CountAllocatedBy(const void* block, std::size_t size_bytes) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (block == nullptr || slot == nullptr || !LiveMap::IsLiveAt(slot)) return;
  const LiveRecord record = LiveMap::Read(slot);
  if (record.size_bytes == size_bytes) CountBy(g_region.allocated_by()[record.stack], size_bytes);
}

void UndoFreedBy(std::uint32_t stack, std::uint64_t bytes) {
  Tally& tally = g_region.freed_by()[stack];
  tally.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  tally.blocks.fetch_sub(1, std::memory_order_relaxed);
}

std::uint64_t AddressOf(const void* block) { return reinterpret_cast<std::uint64_t>(block); }

// A thread that must wait for room waits here, where a signal handler can still record.
void MakeRoomForEvents() {
  if (!RecordsEvents() || !AreEventsOn() || HasEventRoom(t_thread.state->events)) return;
  MakeEventRoom(EventThreadOf(*t_thread.state));
}

void Insert(Recording recording, void* block, const LiveRecord& record) {
  const LiveMap::Slot slot = g_live_map.SlotFor(reinterpret_cast<std::uint64_t>(block));
  if (slot == nullptr) return;
  CounterShard& shard = *recording.thread().shard;
  // A block that was freed without the agent seeing it is gone nevertheless.
  if (LiveMap::IsLiveAt(slot)) {
    if (g_host.is_hooked) g_region.Drop(DropReason::kMissedFree);
    const LiveRecord before = LiveMap::Read(slot);
    if (RecordsEvents()) NoteFree(EventThreadOf(recording.thread()), AddressOf(block));
    CountFree(shard, ChargeOf(before), before.size_bytes, before.stack);
    if (TakesStacksOf(kStacksOfFree)) CountFreedBy(kNoStack, before.size_bytes);
    if (LiveMap::IsChunkAt(slot)) {
      FreePooledIn(recording, AddressOf(block), AddressOf(block) + before.size_bytes);
    }
  }
  if (RecordsEvents()) {
    NoteAllocation(EventThreadOf(recording.thread()), {AddressOf(block), record.size_bytes,
                                                       record.stack, record.context, record.kind});
  }
  recording.thread().events.last_block = block;
  LiveMap::Write(slot, record);
  if (CountAllocation(shard, record.size_bytes)) NotePeak(shard);
}

void NoteInnerBlock(const void* block, std::size_t size_bytes) {
  if (t_thread.activity != Activity::kAllocator || t_thread.state == nullptr) return;
  ThreadState& thread = *t_thread.state;
  thread.inner_blocks[thread.inner_block_count++ % kMostInnerBlocks] = {block, size_bytes};
}

void NoteFreeEvent(Recording recording, const void* block, std::optional<std::uint32_t> stack) {
  if (!RecordsEvents()) return;
  const EventThread thread = EventThreadOf(recording.thread());
  if (stack) return NoteFreeByStack(thread, AddressOf(block), *stack);
  NoteFree(thread, AddressOf(block));
}

FreeError ErrorOf(Recording recording, FreeErrorKind kind, void* block, const FreeCall& call) {
  FreeError error{};
  error.kind = static_cast<std::uint32_t>(kind);
  error.free_kind = static_cast<std::uint32_t>(call.kind);
  error.window = g_region.header().current_window.load(std::memory_order_relaxed);
  error.thread = recording.thread().thread;
  error.free_stack = StackAt(recording, call.caller);
  error.address = reinterpret_cast<std::uint64_t>(block);
  return error;
}

void NoteMismatch(Recording recording, void* block, const FreeCall& call,
                  const LiveRecord& record) {
  if (g_host.frees_any_kind) return;
  FreeError error = ErrorOf(recording, FreeErrorKind::kMismatched, block, call);
  if (!IsSureMismatch(error.free_stack, record.stack)) return;
  error.allocation_stack = record.stack;
  error.allocation_kind = static_cast<std::uint32_t>(record.kind);
  error.size_bytes = record.size_bytes;
  NoteFreeError(error);
}

// The release pairs with the runner's acquire, and keeps the order of what follows: at every
// moment, the block is either in the live map or here.
void ShowReallocated(CounterShard& shard, const void* block, std::uint64_t size_bytes) {
  shard.reallocated_bytes.store(size_bytes, std::memory_order_relaxed);
  shard.reallocated_address.store(reinterpret_cast<std::uint64_t>(block),
                                  std::memory_order_release);
}

void NoteIfFreedTwice(void* block, LiveMap::Slot slot, const FreeCall& call) {
  if (!IsFreedBlock(reinterpret_cast<std::uint64_t>(block)) || !CanRecord()) return;
  {
    const RecordingGuard guard;
    FreeError error = ErrorOf(guard, FreeErrorKind::kDouble, block, call);
    const std::uint32_t size = LiveMap::RestAt(slot).short_size;
    if (size != kSizeFollows) error.size_bytes = size;  // otherwise it may be gone
    NoteFreeError(error);
  }
  NoteUnsettled();
}

// Leaves a block behind as if the host had allocated one more after the last one. It has room of
// its own, which allocators take from the kernel: where other blocks were before, words that nobody
// has overwritten may lead to it, and it would not be lost.
void PlantLeak(Recording recording, std::uint32_t stack) {
  constexpr std::size_t kRoomBytes = 1U << 20;
  static_assert(kRoomBytes > kPlantedBytes);
  t_thread.SetActivity(Activity::kAllocator);
  void* const block = g_host.malloc(kRoomBytes);
  t_thread.SetActivity(Activity::kRecording);
  if (block == nullptr) return;
  const std::uint32_t context = recording.thread().context;
  Insert(recording, block, {kPlantedBytes, stack, context, AllocationKind::kMalloc});
}

}  // namespace

std::uint32_t AddContext(const ContextRecord& context) {
  std::atomic<std::uint32_t>& count = g_region.header().context_count;
  const std::uint32_t id = count.fetch_add(1, std::memory_order_relaxed);
  const bool is_full = id >= kMaxContexts;
  if (is_full) count.store(kMaxContexts, std::memory_order_relaxed);
  if (is_full || !MakeRoom(&g_region.contexts()[id], sizeof(ContextRecord))) {
    g_region.Drop(DropReason::kContextTableFull);
    return 0;
  }
  // Published by the release of the first start word that leads here.
  g_region.contexts()[id] = context;
  return id;
}

void CountFreed(Recording recording, const LiveRecord& record) {
  // A block of the current window is counted without a lock, whichever thread frees it.
  MoveToCurrentWindow(recording.thread());
  (void)CountFree(*recording.thread().shard, ChargeOf(record), record.size_bytes, record.stack);
}

bool CanRecord() {
  // Tracing may have been disabled since the interposed function tested it: the region may have
  // gone.
  if (!IsTracing() || t_thread.activity == Activity::kAllocator || !EnsureThread()) return false;
  if (!t_thread.IsRecording()) return true;
  g_region.Drop(DropReason::kReentered);
  return false;
}

void ForgetInnerBlocks() {
  if (t_thread.state != nullptr) t_thread.state->inner_block_count = 0;
}

std::optional<InnerBlock> FindInnerBlock(const void* address) {
  if (t_thread.state == nullptr) return std::nullopt;
  const ThreadState& thread = *t_thread.state;
  for (std::uint32_t i = 0; i < std::min(thread.inner_block_count, kMostInnerBlocks); ++i) {
    const InnerBlock& inner = thread.inner_blocks[i];
    if (AddressOf(address) - AddressOf(inner.block) < inner.size_bytes) return inner;
  }
  return std::nullopt;
}

void SetAllowanceOf(Recording recording, const void* address, std::uint32_t allowance) {
  constexpr std::uint64_t kFarthest = std::uint64_t{1} << 16;
  const std::uint64_t begin = LiveMap::FindBegin(AddressOf(address), kFarthest);
  if (begin == 0) return;
  const LiveMap::Slot slot = LiveMap::FindAligned(begin);
  const std::uint32_t context =
      WithAllowance(recording.thread(), LiveMap::RestAt(slot).context, allowance);
  if (context != 0) LiveMap::SetContext(slot, context);
}

bool CountTemporary(const ThreadState& thread, std::uint32_t context, std::uint64_t size_bytes) {
  const ContextRecord& record = g_region.contexts()[context];
  const bool is_own = record.thread == static_cast<std::uint16_t>(thread.thread) &&
                      record.window == thread.shard->window.load(std::memory_order_relaxed);
  if (is_own) AddBlock(thread.shard->temporary, size_bytes);
  return is_own;
}

bool RunSlowPathCall() {
  // Acquire pairs with the release in CallOnSlowPath.
  SlowPathCall call = g_slow_path_call.load(std::memory_order_acquire);
  if (call == nullptr) return true;
  if (call() == CallAgain::kYes) return false;
  return g_slow_path_call.compare_exchange_strong(call, nullptr, std::memory_order_relaxed);
}

void CallOnSlowPath(SlowPathCall call) {
  g_slow_path_call.store(call, std::memory_order_release);
  RaiseEpoch();
}

void* RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                           std::uint64_t caller_pc, std::uint64_t caller_sp,
                           std::uint64_t caller_fp) {
  if (block == nullptr) return block;
  if (!CanRecord()) {
    NoteInnerBlock(block, size_bytes);
    return block;
  }

  RunSlowPathCall();
  MakeRoomForEvents();
  const RecordingGuard guard;
  SettleWindows(guard);
  if (!Refresh(guard)) return block;
  std::uint32_t stack = kNoStack;
  if (TakesStacksOf(StackEventOf(kind))) {
    const CallerFrame caller{caller_pc, caller_sp, caller_fp};
    stack = StackOf(guard, caller);
    if constexpr (kChecksStacks) CheckStack(caller, stack);
  }
  Insert(guard, block, {size_bytes, stack, t_thread.state->context, kind});
  if (TakePlantingOfLeak()) PlantLeak(guard, stack);
  return block;
}

template <Events kEvents>
void* RecordWithoutStack(void* block, std::size_t size_bytes, AllocationKind kind) {
  if (block == nullptr) return block;
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (thread == nullptr || slot == nullptr || LiveMap::IsLiveAt(slot) ||
      thread->epoch != CurrentEpoch() || !HasRoomFor<kEvents>(*thread)) {
    return RecordAllocationSlow(block, size_bytes, kind, 0, 0, 0);
  }
  BecomeBusy(own);
  if constexpr (kEvents == Events::kWritten) {
    NoteAllocation(EventThreadOf(*thread),
                   {AddressOf(block), size_bytes, kNoStack, thread->context, kind});
    thread->events.last_block = block;
  }
  LiveMap::Write(slot, {size_bytes, kNoStack, thread->context, kind});
  const bool is_peak_due = CountAllocation(*thread->shard, size_bytes);
  BecomeReady(own, thread);
  return is_peak_due ? NotePeakOf(block) : block;
}

template void* RecordWithoutStack<Events::kNone>(void*, std::size_t, AllocationKind);

namespace {

void* RecordWithEvents(void* block, std::size_t size_bytes, AllocationKind kind,
                       const CallerFrame& caller) {
  if (!TakesStacksOf(StackEventOf(kind))) {
    return RecordWithoutStack<Events::kWritten>(block, size_bytes, kind);
  }
  if (LiveMap::Find(AddressOf(block)) == nullptr) {
    return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
  }
  return RecordAllocation<Events::kWritten>(block, size_bytes, kind, caller);
}

void* RecordWithoutEvents(void* block, std::size_t size_bytes, AllocationKind kind,
                          const CallerFrame& caller) {
  if (!TakesStacksOf(StackEventOf(kind))) {
    return RecordWithoutStack<Events::kNone>(block, size_bytes, kind);
  }
  if (LiveMap::Find(AddressOf(block)) == nullptr) {
    return RecordAllocationSlow(block, size_bytes, kind, caller.pc, caller.sp, caller.fp);
  }
  return RecordAllocation(block, size_bytes, kind, caller);
}

}  // namespace

void* RecordAnyAllocationBeside(void* block, std::size_t size_bytes, AllocationKind kind,
                                std::uint64_t caller_pc, std::uint64_t caller_sp,
                                std::uint64_t caller_fp) {
  const CallerFrame caller{caller_pc, caller_sp, caller_fp};
  if (RecordsEvents()) {
    RecordWithEvents(block, size_bytes, kind, caller);
  } else {
    RecordWithoutEvents(block, size_bytes, kind, caller);
  }
  if (CountsAllocations()) CountAllocatedBy(block, size_bytes);
  return block;
}

void* NotePeakOf(void* block) {
  NotePeak(*t_thread.state->shard);
  return block;
}

std::uint32_t ContextNow(Recording recording) {
  SettleWindows(recording);
  return Refresh(recording) ? recording.thread().context : 0;
}

std::uint32_t StackAt(Recording recording, const CallerFrame& caller) {
  recording.thread().memo.Enter(g_modules.Epoch());
  return StackOf(recording, caller);
}

void ForgetBlock(Recording recording, const void* block, LiveMap::Slot slot) {
  const LiveRecord record = LiveMap::Read(slot);
  if (RecordsEvents()) NoteFree(EventThreadOf(recording.thread()), AddressOf(block));
  LiveMap::Wipe(slot);
  CountFree(*recording.thread().shard, ChargeOf(record), record.size_bytes, record.stack);
  if (TakesStacksOf(kStacksOfFree)) CountFreedBy(kNoStack, record.size_bytes);
}

void CorrectKind(void* block, AllocationKind kind) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (slot != nullptr && LiveMap::IsLiveAt(slot)) LiveMap::SetKind(slot, kind);
}

template <Events kEvents>
bool RecordFreeByStackWith(void* block, const FreeCall& call) {
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (thread == nullptr || slot == nullptr || !LiveMap::IsLiveAt(slot, KindsFreedBy(call.kind)) ||
      thread->epoch != CurrentEpoch() || IsTrialBlock(block) || !HasRoomFor<kEvents>(*thread)) {
    return false;
  }
  const LiveRest rest = LiveMap::RestAt(slot);
  if (rest.context != thread->context) return false;

  BecomeBusy(own);
  const std::uint32_t* const stack = thread->memo.FindAgain(call.caller);
  if (stack != nullptr) {
    const std::uint64_t bytes = LiveMap::SizeAt(slot, rest);
    if constexpr (kEvents == Events::kWritten) {
      NoteFreeByStack(EventThreadOf(*thread), AddressOf(block), *stack);
    }
    LiveMap::Clear(slot);
    AddBlock(thread->shard->freed_here, bytes);
    if constexpr (kEvents == Events::kWritten) {
      CountIfTemporary(*thread, block, rest.context, bytes);
    }
    CountFreedBy(*stack, bytes);
  }
  BecomeReady(own, thread);
  return stack != nullptr;
}

template bool RecordFreeByStackWith<Events::kNone>(void*, const FreeCall&);
template bool RecordFreeByStackWith<Events::kWritten>(void*, const FreeCall&);

template <Events kEvents>
bool RecordFreeInWindow(void* block, FreeKind kind) {
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (thread == nullptr || slot == nullptr || !LiveMap::IsLiveAt(slot, KindsFreedBy(kind)) ||
      !HasRoomFor<kEvents>(*thread)) {
    return false;
  }
  BecomeBusy(own);
  const LiveRest rest = LiveMap::RestAt(slot);
  const bool is_of_now = IsOfNow(*thread->shard, rest.context);
  if (is_of_now) {
    if constexpr (kEvents == Events::kWritten) {
      NoteFree(EventThreadOf(*thread), AddressOf(block));
    }
    LiveMap::Clear(slot);
    AddBlock(thread->shard->freed_here, LiveMap::SizeAt(slot, rest));
    if constexpr (kEvents == Events::kWritten) {
      CountIfTemporary(*thread, block, rest.context, LiveMap::SizeAt(slot, rest));
    }
  }
  BecomeReady(own, thread);
  return is_of_now;
}

template bool RecordFreeInWindow<Events::kNone>(void*, FreeKind);
template bool RecordFreeInWindow<Events::kWritten>(void*, FreeKind);

std::optional<FreedBlock> RecordFree(void* block, const FreeCall& call) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (slot == nullptr) return std::nullopt;
  if (!LiveMap::IsLiveAt(slot)) {
    if (LiveMap::WasLiveAt(slot)) NoteIfFreedTwice(block, slot, call);
    return std::nullopt;
  }
  if (!CanRecord()) return std::nullopt;
  MakeRoomForEvents();
  FreedBlock freed{LiveMap::Read(slot), {}, {}};
  {
    const RecordingGuard guard;
    if (TakesStacksOf(kStacksOfFree) && !IsTrialBlock(block)) {
      freed.freed_by = StackAt(guard, call.caller);
      CountFreedBy(*freed.freed_by, freed.record.size_bytes);
    }
    if (!MayFree(call.kind, freed.record.kind)) NoteMismatch(guard, block, call, freed.record);
    if (call.kind == FreeKind::kRealloc) {
      ShowReallocated(*t_thread.state->shard, block, freed.record.size_bytes);
    }
    NoteFreeEvent(guard, block, freed.freed_by);
    const bool is_chunk = LiveMap::IsChunkAt(slot);
    LiveMap::Clear(slot);
    if (is_chunk) FreePooledIn(guard, AddressOf(block), AddressOf(block) + freed.record.size_bytes);
    // A block of the current window is counted without a lock, whichever thread frees it.
    MoveToCurrentWindow(*t_thread.state);
    freed.counted = CountFree(*t_thread.state->shard, ChargeOf(freed.record),
                              freed.record.size_bytes, freed.record.stack);
    freed.was_temporary =
        RecordsEvents() &&
        CountIfTemporary(*t_thread.state, block, freed.record.context, freed.record.size_bytes);
    // A window waits only if a string of GoogleTest was not found; the string is freed first.
    SettleWindows(guard);
  }
  return freed;
}

std::optional<FreedBlock> RecordFreeToReallocate(void* block, const CallerFrame& caller) {
  const KnownThread own;
  ThreadState* const thread = own.handle().ready;
  const LiveMap::Slot slot = LiveMap::Find(AddressOf(block));
  const bool is_ordinary = TracesLibcFree() && thread != nullptr && slot != nullptr &&
                           LiveMap::IsLiveAt(slot, KindsFreedBy(FreeKind::kRealloc)) &&
                           LiveMap::RestAt(slot).context == thread->context;
  if (!is_ordinary) return RecordFree(block, {FreeKind::kRealloc, caller});

  BecomeBusy(own);
  const LiveRecord record = LiveMap::Read(slot);
  CounterShard& shard = *thread->shard;
  ShowReallocated(shard, block, record.size_bytes);
  LiveMap::Clear(slot);
  AddBlock(shard.freed_here, record.size_bytes);
  const CountedFree counted{agent::ChargeOf(shard), record.size_bytes, std::nullopt};
  BecomeReady(own, thread);
  return FreedBlock{record, counted, std::nullopt, false};
}

void EndReallocation() {
  t_thread.state->shard->reallocated_address.store(0, std::memory_order_release);
}

void RestoreBlock(void* block, const FreedBlock& freed) {
  if (!CanRecord()) return;
  {
    const RecordingGuard guard;
    const LiveMap::Slot slot = g_live_map.SlotFor(reinterpret_cast<std::uint64_t>(block));
    if (RecordsEvents()) {
      const std::uint64_t origin =
          (static_cast<std::uint64_t>(freed.record.kind) << kStackBits) | freed.record.stack;
      NoteOther(EventThreadOf(*t_thread.state), OtherEvent::kRestore, origin,
                {AddressOf(block), freed.record.size_bytes});
    }
    LiveMap::Write(slot, freed.record);
    UndoFree(*t_thread.state->shard, freed.counted);
    if (freed.freed_by) UndoFreedBy(*freed.freed_by, freed.record.size_bytes);
    if (freed.was_temporary) RemoveBlock(t_thread.state->shard->temporary, freed.record.size_bytes);
  }
  NoteUnsettled();
}

}  // namespace leakgate::agent
