#include "plugin/agent/host/on_switch.h"

#include <atomic>

#include "common/system.h"
#include "plugin/agent/base/epoch.h"
#include "plugin/agent/host/host_functions.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

constinit SwitchPage g_switch{};

namespace {

// Release pairs with the acquire in IsSwitchedOn.
void Set(std::uint32_t& word, std::uint32_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}
// Relaxed: nothing is published. What a thread reads that still finds it on stays there until the
// region is released.
void Clear(std::uint32_t& word) { std::atomic_ref(word).store(0, std::memory_order_relaxed); }

}  // namespace

bool SwitchOn(std::uint32_t stack_events, const EventSwitch& events) {
  if (!WipeOnFork(&g_switch, sizeof(g_switch))) return false;
  const bool is_libc = !g_host.allocator_is_foreign;
  const bool only_calls_malloc =
      g_host.operators == OperatorSource::kRuntime || g_host.operators == OperatorSource::kNone;
  const bool counts = (stack_events & kCountsAllocations) != 0;
  const bool takes_allocations = (stack_events & kStacksOfAlloc) != 0 && !counts;
  const bool takes_frees = (stack_events & kStacksOfFree) != 0;
  // First the words that are read only if one of the others is on.
  g_switch.stack_events = stack_events;
  g_switch.reads_time_stamp = events.reads_time_stamp ? 1 : 0;
  g_switch.event_time_shift = events.time_shift;
  g_switch.records_events = events.records ? 1 : 0;
  g_switch.records_beside = events.records || counts ? 1 : 0;
  const std::uint32_t libc_malloc = is_libc && takes_allocations ? 1 : 0;
  const std::uint32_t runtime_new = is_libc && only_calls_malloc && takes_allocations ? 1 : 0;
  const std::uint32_t libc_free = is_libc && !takes_frees ? 1 : 0;
  const std::uint32_t runtime_delete = is_libc && only_calls_malloc && !takes_frees ? 1 : 0;
  const std::uint32_t traces = events.records ? 0 : 1;
  const std::uint32_t records = events.records ? 1 : 0;
  Set(g_switch.is_tracing, 1);
  Set(g_switch.traces_libc_malloc, libc_malloc & traces);
  Set(g_switch.traces_runtime_new, runtime_new & traces);
  Set(g_switch.traces_libc_free, libc_free & traces);
  Set(g_switch.traces_runtime_delete, runtime_delete & traces);
  Set(g_switch.records_libc_malloc, libc_malloc & records);
  Set(g_switch.records_runtime_new, runtime_new & records);
  Set(g_switch.records_libc_free, libc_free & records);
  Set(g_switch.records_runtime_delete, runtime_delete & records);
  return true;
}

void SwitchOff() {
  Clear(g_switch.records_runtime_delete);
  Clear(g_switch.records_libc_free);
  Clear(g_switch.records_runtime_new);
  Clear(g_switch.records_libc_malloc);
  Clear(g_switch.records_events);
  Clear(g_switch.records_beside);
  Clear(g_switch.traces_runtime_delete);
  Clear(g_switch.traces_libc_free);
  Clear(g_switch.traces_runtime_new);
  Clear(g_switch.traces_libc_malloc);
  Clear(g_switch.is_tracing);
  // The hot path tests the epoch last, so a thread that has found the switch on takes the slow
  // path.
  RaiseEpoch();
}

}  // namespace leakgate::agent
