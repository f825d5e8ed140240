// Pages, addresses, and what the C library puts on the stacks of threads.
#pragma once

#include <sys/auxv.h>

#include <atomic>
#include <cstdint>

namespace leakgate::agent {

// Kernels are built for pages of 4, 16 or 64 KiB.
inline constexpr std::uint64_t kLargestPageBytes = 65536;

inline std::uint64_t PageBytes() {
  static constinit std::atomic<std::uint64_t> known{0};
  std::uint64_t bytes = known.load(std::memory_order_relaxed);  // all that find it agree
  if (bytes == 0) {
    bytes = ::getauxval(AT_PAGESZ);
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

// The processor ignores the highest byte of an address, where programs and allocators may put a
// tag.
inline std::uint64_t WithoutTag(std::uint64_t address) {
  return address & ((std::uint64_t{1} << 56) - 1);
}

// The end of a stack that the C library has mapped, of `bytes` without its guard. Behind the stack
// are the C library's record of the thread, the thread pointer, and the modules' thread-locals. The
// record says where the mapping begins, how long it is and how much of it is guard, one word after
// the other: glibc's allocatestack.c.
inline std::uint64_t EndOfThreadsStack(std::uint64_t thread_pointer, std::uint64_t bytes) {
  constexpr std::uint64_t kMostRecordWords = 512;
  const auto* word = reinterpret_cast<const std::uint64_t*>(thread_pointer);
  for (std::uint64_t i = 0; i < kMostRecordWords; ++i) {
    --word;
    const std::uint64_t begin = word[-2];
    const std::uint64_t size = word[-1];
    const std::uint64_t guard = word[0];
    if (size - guard == bytes && begin < thread_pointer && thread_pointer - begin < size) {
      return begin + size;
    }
  }
  return (thread_pointer + PageBytes()) & ~(PageBytes() - 1);
}

}  // namespace leakgate::agent
