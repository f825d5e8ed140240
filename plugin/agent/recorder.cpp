#include "plugin/agent/recorder.h"

#include "plugin/agent/windows.h"

namespace leakgate::agent {

constinit std::atomic<std::uint64_t> g_epoch{1};

namespace {

void CountWalk(ThreadState& thread, std::uint32_t kept) {
  CounterShard& shard = *thread.shard;
  AddAsOwner(shard.stacks_walked, 1);
  AddAsOwner(shard.frames_walked, thread.trail.depth - kept);
  AddAsOwner(shard.rules_made, thread.walker.TakeRulesMade());
  if (!thread.trail.is_provable) AddAsOwner(shard.stacks_unprovable, 1);
}

std::uint32_t StackOf(Recording recording, const CallerFrame& caller) {
  ThreadState& thread = recording.thread();
  if (const std::optional<std::uint32_t> known = thread.memo.Find(caller)) return *known;

  const std::uint32_t kept = thread.walker.Walk(g_modules, caller, thread.trail);
  CountWalk(thread, kept);
  const StackTable::Interned stack = g_stacks.Intern(kept, thread.trail);
  // What is seen for the first time may well be seen once only.
  if (!stack.is_new) thread.memo.Remember(caller, thread.trail, stack.id);
  return stack.id;
}

// 0, with a drop, if the table is full.
std::uint32_t MakeContext(std::uint32_t window, std::uint32_t thread) {
  std::atomic<std::uint32_t>& count = g_region.header().context_count;
  const std::uint32_t id = count.fetch_add(1, std::memory_order_relaxed);
  if (id >= kMaxContexts) {
    count.store(kMaxContexts, std::memory_order_relaxed);
    g_region.Drop(DropReason::kContextTableFull);
    return 0;
  }
  // Published by the release of the first start word that leads here.
  g_region.contexts()[id] = {.window = window, .thread = thread, .allowance = 0, .reserved = 0};
  return id;
}

// The thread counts for the current window from now on. What it allocates there
// needs a context of its own: see Refresh.
void MoveToCurrentWindow(ThreadState& thread) {
  const std::uint32_t window = g_region.header().current_window.load(std::memory_order_relaxed);
  if (thread.shard->window.load(std::memory_order_relaxed) == window) return;
  HandOver(*thread.shard, window);
  thread.context = 0;
  thread.epoch = 0;
}

// Makes the thread's copies those of the present epoch; false, with a drop, if
// there is no context to be had.
[[nodiscard]] bool Refresh(Recording recording) {
  ThreadState& thread = recording.thread();
  const std::uint64_t epoch = CurrentEpoch();
  if (thread.epoch == epoch) return true;

  MoveToCurrentWindow(thread);
  if (thread.context == 0) {
    thread.context =
        MakeContext(thread.shard->window.load(std::memory_order_relaxed), thread.thread);
  }
  if (thread.context == 0) return false;
  thread.memo.Enter(g_modules.Epoch());
  thread.epoch = epoch;
  return true;
}

std::uint32_t WindowOf(const LiveRecord& record) {
  return g_region.contexts()[record.context].window;
}

void Insert(Recording recording, void* block, const LiveRecord& record) {
  const LiveMap::Slot slot = g_live_map.SlotFor(reinterpret_cast<std::uint64_t>(block));
  if (slot == nullptr) return;
  CounterShard& shard = *recording.thread().shard;
  // A block that was freed where the agent does not look is gone all the same.
  if (LiveMap::IsLiveAt(slot)) {
    const LiveRecord before = LiveMap::Read(slot);
    CountFree(shard, WindowOf(before), before.size_bytes, before.stack);
  }
  LiveMap::Write(slot, record);
  if (CountAllocation(shard, record.size_bytes)) NotePeak(shard);
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
  if (!TellsMismatches()) return;
  FreeError error = ErrorOf(recording, FreeErrorKind::kMismatched, block, call);
  error.allocation_stack = record.stack;
  error.allocation_kind = static_cast<std::uint32_t>(record.kind);
  error.size_bytes = record.size_bytes;
  NoteFreeError(error);
}

void NoteIfFreedTwice(void* block, LiveMap::Slot slot, const FreeCall& call) {
  if (!IsFreedBlock(reinterpret_cast<std::uint64_t>(block)) || !CanRecord()) return;
  {
    const RecordingGuard guard;
    FreeError error = ErrorOf(guard, FreeErrorKind::kDouble, block, call);
    const std::uint32_t size = LiveMap::RestAt(slot).short_size;
    if (size != kSizeFollows) error.size_bytes = size;  // else it may be gone
    NoteFreeError(error);
  }
  NoteUnsettled();
}

}  // namespace

bool CanRecord() {
  if (t_thread.activity == Activity::kUnknown && !EnsureThread()) return false;
  if (t_thread.activity == Activity::kAllocator) return false;
  if (!t_thread.IsRecording()) return true;
  g_region.Drop(DropReason::kReentered);
  return false;
}

void* RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                           std::uint64_t caller_pc, std::uint64_t caller_sp,
                           std::uint64_t caller_fp) {
  if (block == nullptr || !CanRecord()) return block;

  const RecordingGuard guard;
  SettleWindows(guard);
  if (!Refresh(guard)) return block;
  const CallerFrame caller{caller_pc, caller_sp, caller_fp};
  const std::uint32_t stack = StackOf(guard, caller);
  if constexpr (kChecksStacks) CheckStack(caller, stack);
  Insert(guard, block, {size_bytes, stack, t_thread.state->context, kind});
  return block;
}

void* NotePeakOf(void* block) {
  NotePeak(*t_thread.state->shard);
  return block;
}

std::uint32_t StackAt(Recording recording, const CallerFrame& caller) {
  recording.thread().memo.Enter(g_modules.Epoch());
  return StackOf(recording, caller);
}

void CorrectKind(void* block, AllocationKind kind) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (slot != nullptr && LiveMap::IsLiveAt(slot)) LiveMap::SetKind(slot, kind);
}

std::optional<FreedBlock> RecordFree(void* block, const FreeCall& call) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  if (slot == nullptr) return std::nullopt;
  if (!LiveMap::IsLiveAt(slot)) {
    if (LiveMap::WasLiveAt(slot)) NoteIfFreedTwice(block, slot, call);
    return std::nullopt;
  }
  if (!CanRecord()) return std::nullopt;
  FreedBlock freed{LiveMap::Read(slot), {}};
  {
    const RecordingGuard guard;
    if (!MayFree(call.kind, freed.record.kind)) NoteMismatch(guard, block, call, freed.record);
    LiveMap::Clear(slot);
    // A block of the current window is counted without a lock, whoever frees it.
    MoveToCurrentWindow(*t_thread.state);
    freed.counted = CountFree(*t_thread.state->shard, WindowOf(freed.record),
                              freed.record.size_bytes, freed.record.stack);
  }
  NoteUnsettled();  // a free settles nothing
  return freed;
}

void RestoreBlock(void* block, const FreedBlock& freed) {
  if (!CanRecord()) return;
  {
    const RecordingGuard guard;
    const LiveMap::Slot slot = g_live_map.SlotFor(reinterpret_cast<std::uint64_t>(block));
    LiveMap::Write(slot, freed.record);
    UndoFree(*t_thread.state->shard, freed.counted);
  }
  NoteUnsettled();
}

}  // namespace leakgate::agent
