// The processor's counter of time, the virtual count of Arm's generic timer: it runs at one rate on
// all processors and never stops (Arm Architecture Reference Manual, chapter D12).
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Does not wait for earlier instructions, so the time may be some nanoseconds too early.
inline std::uint64_t ReadTimeStamp() {
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

}  // namespace leakgate::agent
