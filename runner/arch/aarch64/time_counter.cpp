#include "runner/arch/time_counter.h"

namespace leakgate {

// The architecture guarantees it for the generic timer.
bool HasSteadyCounter() { return true; }

std::uint64_t ReadCounter() {
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

std::string_view CounterClockSource() { return "arch_sys_counter"; }

}  // namespace leakgate
