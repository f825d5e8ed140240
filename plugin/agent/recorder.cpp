#include "plugin/agent/recorder.h"

#include "plugin/agent/counters.h"
#include "plugin/agent/windows.h"

namespace leakgate::agent {
namespace {

std::uint64_t Address(void* block) { return reinterpret_cast<std::uint64_t>(block); }

std::uint32_t CurrentWindow() {
  return g_region.header().current_window.load(std::memory_order_relaxed);
}

void Insert(const RecordingGuard& guard, std::uint64_t address, const LiveEntry& entry) {
  std::optional<LiveEntry> replaced;
  if (!g_live_map.Insert(address, entry, replaced)) return;
  CounterShard& shard = *guard.thread().shard;
  // A block that was freed where the agent does not look is gone all the same.
  if (replaced) CountFree(shard, replaced->start.window, replaced->rest.size_bytes);
  CountAllocation(shard, entry.start.window, entry.rest.size_bytes);
}

}  // namespace

ThreadState* RecordingThread() {
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr || thread->activity == Activity::kAllocator) return nullptr;
  if (thread->activity == Activity::kRecording) {
    g_region.Drop(DropReason::kReentered);
    return nullptr;
  }
  return thread;
}

void RecordAllocation(void* block, std::size_t size_bytes, AllocationKind kind,
                      const CallerFrame& caller) {
  if (block == nullptr) return;
  ThreadState* const thread = RecordingThread();
  if (thread == nullptr) return;
  const RecordingGuard guard(*thread);

  if (IsUnsettled(*thread)) SettleWindows(guard);
  thread->walker.Walk(g_modules, caller, thread->stack);
  const std::uint32_t stack = g_stacks.Intern(thread->stack, thread->recent);
  Insert(guard, Address(block), {{CurrentWindow(), stack}, {size_bytes, thread->thread, kind}});
}

std::optional<LiveEntry> RecordFree(void* block) {
  if (block == nullptr) return std::nullopt;
  ThreadState* const thread = RecordingThread();
  if (thread == nullptr) return std::nullopt;
  const RecordingGuard guard(*thread);

  const std::optional<LiveEntry> entry = g_live_map.Erase(Address(block));
  if (entry) CountFree(*thread->shard, entry->start.window, entry->rest.size_bytes);
  return entry;
}

void RestoreBlock(void* block, const LiveEntry& entry) {
  ThreadState* const thread = RecordingThread();
  if (thread == nullptr) return;
  const RecordingGuard guard(*thread);
  Insert(guard, Address(block), entry);
}

}  // namespace leakgate::agent
