// The processor's counter of time. Intel's and AMD's manuals call it the time-stamp counter. Where
// the kernel says that it is constant and does not stop, it runs at one rate on all processors.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Does not wait for earlier instructions, so the time may be some nanoseconds too early.
inline std::uint64_t ReadTimeStamp() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (std::uint64_t{high} << 32) | low;
}

}  // namespace leakgate::agent
