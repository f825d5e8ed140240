// The switches that every interposed function tests first.
//
// They are alone on a page that the kernel wipes in fork children
// (MADV_WIPEONFORK): a child of fork or of a raw clone finds tracing off, and
// the region not mapped; a vfork child, which shares the parent's memory, sees
// the parent's.
#pragma once

#include <cstdint>

#include "plugin/agent/visibility.h"

namespace leakgate::agent {

struct alignas(4096) SwitchPage {
  std::uint32_t is_tracing;
  // Tracing, and malloc is the C library's: the hot path needs to ask nothing else.
  std::uint32_t traces_libc_malloc;
  // The same, and operator new and delete only call malloc and free.
  std::uint32_t traces_runtime_new;
};

extern LEAKGATE_INTERNAL SwitchPage g_switch;

inline bool TracesLibcMalloc() { return __builtin_expect(g_switch.traces_libc_malloc != 0, 1); }
inline bool TracesRuntimeNew() { return __builtin_expect(g_switch.traces_runtime_new != 0, 1); }
inline bool IsTracing() { return __builtin_expect(g_switch.is_tracing != 0, 1); }

// False if the kernel cannot wipe the page on fork: then tracing must not start.
[[nodiscard]] bool SwitchOn();
void SwitchOff();

}  // namespace leakgate::agent
