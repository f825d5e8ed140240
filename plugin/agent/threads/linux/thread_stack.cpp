#include "plugin/agent/threads/thread_stack.h"

#include <atomic>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/epoch.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/threads/thread_locals.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {
namespace {

thread_local constinit std::uint32_t t_stack = 0;
thread_local constinit std::uint32_t t_span = 0;  // the span in which that was added

}  // namespace

void TakeStack(std::uint32_t mapping) {
  if (mapping == 0) return;
  const std::uint64_t bytes = mapping_tree::RecordOf(mapping).bytes;
  const std::uint64_t end =
      EndOfThreadsStack(reinterpret_cast<std::uint64_t>(__builtin_thread_pointer()), bytes);
  t_stack = mapping;
  t_span = g_span;
  MappingTable::PlaceStack(mapping, end - bytes);
}

// The thread may have no state with which to record.
void EndStack() {
  if (t_stack == 0 || t_span != g_span) return;
  const Activity before = t_thread.activity;
  t_thread.SetActivity(Activity::kRecording);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  g_mappings.ForgetStack(t_stack);
  t_stack = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_thread.SetActivity(before);
}

}  // namespace leakgate::agent
