// Pages, and what the C library puts on the stacks of threads.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint64_t kPageBytes = 4096;

// The end of a stack that the C library has mapped, from the thread's pointer: the C library's own
// record of the thread begins there, on the stack's last page.
inline std::uint64_t EndOfThreadsStack(std::uint64_t thread_pointer) {
  return (thread_pointer + kPageBytes) & ~(kPageBytes - 1);
}

}  // namespace leakgate::agent
