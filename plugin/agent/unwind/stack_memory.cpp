#include "plugin/agent/unwind/stack_memory.h"

namespace leakgate::agent {

bool StackMemory::Verify(std::uint64_t address) {
  if (address % sizeof(std::uint64_t) != 0) return false;
  for (std::uint32_t i = 0; i < kRangeCount; ++i) {
    if (address >= ranges_[i].begin && address < ranges_[i].end) return Select(i);
  }
  if (!IsReadable(address)) return false;

  const std::uint64_t page = address & ~(PageBytes() - 1);
  Remember({page, page + PageBytes()});
  return true;
}

bool StackMemory::Select(std::uint32_t index) {
  recent_ = ranges_[index];
  recent_bytes_ = recent_.end - recent_.begin - sizeof(std::uint64_t);
  return true;
}

// Extends the range that the page touches, or else replaces the oldest.
void StackMemory::Remember(const Range& page) {
  for (std::uint32_t i = 0; i < kRangeCount; ++i) {
    if (ranges_[i].begin == page.end) {
      ranges_[i].begin = page.begin;
    } else if (ranges_[i].end == page.begin) {
      ranges_[i].end = page.end;
    } else {
      continue;
    }
    Select(i);
    return;
  }
  const std::uint32_t index = oldest_;
  oldest_ = (oldest_ + 1) % kRangeCount;
  ranges_[index] = page;
  Select(index);
}

}  // namespace leakgate::agent
