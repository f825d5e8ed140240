// The switches that every interposed function tests first.
//
// They are alone on a page that the kernel wipes in fork children (MADV_WIPEONFORK). So a child of
// fork or of a raw clone finds tracing off, and the region not mapped. A vfork child, which shares
// the parent's memory, sees the parent's switches.
//
// Tracing may be enabled while other threads run. A thread that finds one of these on, through a
// function below that is documented to acquire, sees all that was ready before SwitchOn: the host's
// functions, the region and its tables, and the other words of the page
// (tests/unit/memory_model/switch_test.cpp).
#pragma once

#include <cstdint>

#include "common/stack_event.h"
#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/visibility.h"

#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {

struct alignas(kLargestPageBytes) SwitchPage {
  std::uint32_t is_tracing;
  // Set if tracing is on, malloc is the C library's, and stacks of allocations are recorded. The
  // hot path needs to test nothing else.
  std::uint32_t traces_libc_malloc;
  // Set if in addition operator new and delete only call malloc and free.
  std::uint32_t traces_runtime_new;
  // The same two for frees, if their stacks are not recorded.
  std::uint32_t traces_libc_free;
  std::uint32_t traces_runtime_delete;
  // The events whose stacks are recorded: bits of common/stack_event.h. Only valid while tracing.
  std::uint32_t stack_events;
  // Set if allocations are counted by stack, or a recording has each event. Then allocations take a
  // separate path, so that plain tracing needs no further tests.
  std::uint32_t records_beside;
  // Set if a recording has each event (common/event_stream.h), or temporary blocks are counted.
  // Then the four above are not set, so that the hot path of plain tracing needs no further tests,
  // and the following four replace them.
  std::uint32_t records_events;
  std::uint32_t records_libc_malloc;
  std::uint32_t records_runtime_new;
  std::uint32_t records_libc_free;
  std::uint32_t records_runtime_delete;
  // The clock of events: the processor's counter or CLOCK_MONOTONIC, shifted right.
  std::uint32_t reads_time_stamp;
  std::uint32_t event_time_shift;
};

// Whether events are recorded or temporary blocks counted, and the clock of events.
struct EventSwitch {
  bool records = false;
  bool reads_time_stamp = false;
  std::uint32_t time_shift = 0;
};

extern LEAKGATE_INTERNAL SwitchPage g_switch;

// Acquire pairs with the release in SwitchOn. If the processor keeps loads in order, as x86 does,
// this is a plain load. Elsewhere a branch alone would not be enough, because the processor loads
// ahead of it.
inline bool IsSwitchedOn(const std::uint32_t& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE) != 0;
}

inline bool IsTracing() { return __builtin_expect(IsSwitchedOn(g_switch.is_tracing), 1); }
inline bool TracesLibcMalloc() {
  return __builtin_expect(IsSwitchedOn(g_switch.traces_libc_malloc), 1);
}
inline bool TracesRuntimeNew() {
  return __builtin_expect(IsSwitchedOn(g_switch.traces_runtime_new), 1);
}
inline bool TracesLibcFree() {
  return __builtin_expect(IsSwitchedOn(g_switch.traces_libc_free), 1);
}
inline bool TracesRuntimeDelete() {
  return __builtin_expect(IsSwitchedOn(g_switch.traces_runtime_delete), 1);
}
inline bool RecordsLibcMalloc() { return IsSwitchedOn(g_switch.records_libc_malloc); }
inline bool RecordsRuntimeNew() { return IsSwitchedOn(g_switch.records_runtime_new); }
inline bool RecordsLibcFree() { return IsSwitchedOn(g_switch.records_libc_free); }
inline bool RecordsRuntimeDelete() { return IsSwitchedOn(g_switch.records_runtime_delete); }

// The rest are plain loads, valid only after one of those above has been found on.
inline bool RecordsBeside() { return __builtin_expect(g_switch.records_beside != 0, 0); }
inline bool CountsAllocations() { return (g_switch.stack_events & kCountsAllocations) != 0; }
inline bool RecordsEvents() { return __builtin_expect(g_switch.records_events != 0, 0); }
inline bool TakesStacksOf(std::uint32_t event) {
  return __builtin_expect((g_switch.stack_events & event) != 0, 1);
}

// Switches tracing on; the stacks of `stack_events` are to be recorded. Returns false if the kernel
// cannot wipe the page on fork: then tracing must not start.
[[nodiscard]] bool SwitchOn(std::uint32_t stack_events = kDefaultStackEvents,
                            const EventSwitch& events = {});

// Other threads may continue as if tracing were on until they have been stopped once, or have
// waited in the kernel. The runner ensures this before it has the region released
// (threads/thread_state.h, IsAnyThreadRecording).
void SwitchOff();

}  // namespace leakgate::agent
