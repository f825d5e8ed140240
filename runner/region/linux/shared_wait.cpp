#include "runner/region/shared_wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace leakgate {

void WakeAll(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void AwaitChange(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::milliseconds patience) {
  const timespec limit{patience.count() / 1000, (patience.count() % 1000) * 1'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

}  // namespace leakgate
