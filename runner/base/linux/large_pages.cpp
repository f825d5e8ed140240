#include "runner/base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "runner/base/page_size.h"

namespace leakgate {

std::uint64_t PageBytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

void PreferLargePages(void* begin, std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  constexpr std::size_t kSmallRange = 8 * kLargePage;
  if (bytes < kSmallRange) return;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kLargePage - 1) & ~(kLargePage - 1);
  const std::uintptr_t end = (address + bytes) & ~(kLargePage - 1);
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace leakgate
