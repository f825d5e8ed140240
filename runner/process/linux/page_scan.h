// PAGEMAP_SCAN, which asks /proc/PID/pagemap for ranges of pages. It skips holes without examining
// each page, and distinguishes the empty page of zeros from other memory. Linux 6.7 introduced it;
// older headers do not have it.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace leakgate {

struct PageScan {
  std::uint64_t size = sizeof(PageScan);
  std::uint64_t flags = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t walk_end = 0;  // the kernel writes here how far it got
  std::uint64_t found = 0;
  std::uint64_t found_length = 0;
  std::uint64_t most_pages = 0;
  std::uint64_t inverted = 0;
  std::uint64_t all_of = 0;
  std::uint64_t any_of = 0;
  std::uint64_t told = 0;
};
struct FoundPages {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t categories;
};
inline constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);

// Categories of pages.
inline constexpr std::uint64_t kPageIsOfFile = 1U << 2;  // or of shared memory
inline constexpr std::uint64_t kPageIsPresent = 1U << 3;
inline constexpr std::uint64_t kPageIsSwapped = 1U << 4;
// The one page of zeros that all processes share.
inline constexpr std::uint64_t kPageIsZeros = 1U << 5;

}  // namespace leakgate
