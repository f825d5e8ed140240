#include "plugin/agent/recorder.h"

#include "plugin/agent/windows.h"

namespace leakgate::agent {

ThreadState* RecordingThreadSlow() {
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr || thread->activity == Activity::kAllocator) return nullptr;
  if (thread->activity == Activity::kRecording) {
    g_region.Drop(DropReason::kReentered);
    return nullptr;
  }
  return thread;
}

std::uint32_t WalkStack(Recording recording, const CallerFrame& caller,
                        std::uint32_t module_epoch) {
  ThreadState& thread = recording.thread();
  const std::uint32_t kept = thread.walker.Walk(g_modules, caller, thread.trail);
  const std::uint32_t stack = g_stacks.Intern(kept, thread.trail);
  thread.memo.Remember(caller, module_epoch, thread.trail, stack);
  return stack;
}

void Settle(Recording recording) { SettleWindows(recording); }

void ForgetReplaced(Recording recording, const LiveWords& replaced) {
  CountFree(*recording.thread().shard, DecodeStart(replaced.start).window,
            DecodeRest(replaced.rest).size_bytes);
}

void RestoreBlock(void* block, const LiveWords& words) {
  ThreadState* const thread = RecordingThread();
  if (thread == nullptr) return;
  const RecordingGuard guard(*thread);
  Insert(guard, reinterpret_cast<std::uint64_t>(block), words);
}

}  // namespace leakgate::agent
