#include "plugin/agent/recorder.h"

#include "plugin/agent/windows.h"

namespace leakgate::agent {
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
  const std::uint32_t module_epoch = g_modules.Epoch();
  const std::uint32_t known = thread.memo.Find(caller, module_epoch);
  if (known != 0) return known;

  const std::uint32_t kept = thread.walker.Walk(g_modules, caller, thread.trail);
  CountWalk(thread, kept);
  const std::uint32_t stack = g_stacks.Intern(kept, thread.trail);
  thread.memo.Remember(caller, module_epoch, thread.trail, stack);
  return stack;
}

void Insert(Recording recording, void* block, const LiveWords& words) {
  const LiveMap::Slot slot = g_live_map.SlotFor(reinterpret_cast<std::uint64_t>(block));
  if (slot == nullptr) return;
  CounterShard& shard = *recording.thread().shard;
  // A block that was freed where the agent does not look is gone all the same.
  const LiveWords before = LiveMap::Read(slot);
  if (before.IsLive()) {
    CountFree(shard, DecodeStart(before.start).window, DecodeRest(before.rest).size_bytes);
  }
  LiveMap::Write(slot, words);
  CountAllocation(shard, DecodeStart(words.start).window, DecodeRest(words.rest).size_bytes);
}

}  // namespace

bool CanRecord() {
  if (t_thread.activity == Activity::kUnknown && !EnsureThread()) return false;
  if (t_thread.activity == Activity::kAllocator) return false;
  if (t_thread.activity != Activity::kRecording) return true;
  g_region.Drop(DropReason::kReentered);
  return false;
}

void RecordAllocationSlow(void* block, std::size_t size_bytes, AllocationKind kind,
                          const CallerFrame& caller) {
  if (block == nullptr || !CanRecord()) return;
  if (size_bytes > kMaxBlockBytes) return g_region.Drop(DropReason::kBlockTooLarge);

  const RecordingGuard guard;
  SettleWindows(guard);
  const LiveStart start{g_region.header().current_window.load(std::memory_order_relaxed),
                        StackOf(guard, caller)};
  const LiveRest rest{size_bytes, t_thread.state->thread, kind};
  Insert(guard, block, {Encode(start), Encode(rest)});
}

LiveWords RecordFreeSlow(void* block) {
  const LiveMap::Slot slot = LiveMap::Find(reinterpret_cast<std::uint64_t>(block));
  const LiveWords words = LiveMap::Read(slot);
  if (!CanRecord()) return {};
  {
    const RecordingGuard guard;
    LiveMap::Clear(slot);
    CountFree(*t_thread.state->shard, DecodeStart(words.start).window,
              DecodeRest(words.rest).size_bytes);
  }
  NoteUnsettled();  // a free settles nothing
  return words;
}

void RestoreBlock(void* block, const LiveWords& words) {
  if (!CanRecord()) return;
  {
    const RecordingGuard guard;
    Insert(guard, block, words);
  }
  NoteUnsettled();
}

}  // namespace leakgate::agent
