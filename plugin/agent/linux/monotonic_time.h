// The clock of records: CLOCK_MONOTONIC, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace leakgate::agent {

// Asks the C library, which needs no system call for it.
inline std::uint64_t MonotonicTime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace leakgate::agent
