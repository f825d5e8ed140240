#include "plugin/agent/nt/monotonic_time.h"

#include <windows.h>

namespace leakgate::agent {

std::uint64_t MonotonicTime() {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  LARGE_INTEGER counter;
  LARGE_INTEGER frequency;
  ::QueryPerformanceCounter(&counter);
  ::QueryPerformanceFrequency(&frequency);
  const auto ticks = static_cast<std::uint64_t>(counter.QuadPart);
  const auto each_second = static_cast<std::uint64_t>(frequency.QuadPart);
  return ticks / each_second * kSecond + ticks % each_second * kSecond / each_second;
}

}  // namespace leakgate::agent
