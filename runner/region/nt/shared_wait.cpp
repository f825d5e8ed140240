// The system wakes threads of the same process only. So each side looks again after a moment.
#include "runner/region/shared_wait.h"

#include <windows.h>

namespace leakgate {

void WakeAll(std::atomic<std::uint32_t>&) {}

void AwaitChange(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::milliseconds patience) {
  constexpr DWORD kLookEachMs = 1;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (word.load(std::memory_order_relaxed) == value &&
         std::chrono::steady_clock::now() < until) {
    ::Sleep(kLookEachMs);
  }
}

}  // namespace leakgate
