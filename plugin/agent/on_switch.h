// The switch that every interposed function tests first.
//
// It is alone on a page that the kernel wipes in fork children
// (MADV_WIPEONFORK): a child of fork or of a raw clone finds tracing off, and
// the region not mapped; a vfork child, which shares the parent's memory, sees
// the parent's switch.
#pragma once

#include <cstdint>

#include "plugin/agent/visibility.h"

namespace leakgate::agent {

struct alignas(4096) SwitchPage {
  volatile std::uint32_t is_tracing;
};

extern LEAKGATE_INTERNAL SwitchPage g_switch;

inline bool IsTracing() { return __builtin_expect(g_switch.is_tracing != 0, 1); }

// False if the kernel cannot wipe the page on fork: then tracing must not start.
[[nodiscard]] bool SwitchOn();

}  // namespace leakgate::agent
