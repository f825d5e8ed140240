// Pages, addresses, and what the C library puts on the stacks of threads.
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint64_t kLargestPageBytes = 4096;

constexpr std::uint64_t PageBytes() { return 4096; }

// Addresses have no tags.
inline std::uint64_t WithoutTag(std::uint64_t address) { return address; }

// The end of a stack that the C library has mapped, of `bytes` without its guard, from the thread's
// pointer: the C library's own record of the thread begins there, on the stack's last page.
inline std::uint64_t EndOfThreadsStack(std::uint64_t thread_pointer, std::uint64_t /*bytes*/) {
  return (thread_pointer + PageBytes()) & ~(PageBytes() - 1);
}

}  // namespace leakgate::agent
