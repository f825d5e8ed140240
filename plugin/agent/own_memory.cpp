#include "plugin/agent/own_memory.h"

#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/region.h"

namespace leakgate::agent {

void NoteOwnMemory(const void* begin, std::size_t bytes) {
  const std::uint32_t index =
      g_region.header().own_range_count.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxOwnRanges) return;
  OwnRange& range = g_region.own_ranges()[index];
  range.begin = reinterpret_cast<std::uint64_t>(begin);
  // Last, with release: an entry without an end is not there yet.
  std::atomic_ref(range.end).store(range.begin + bytes, std::memory_order_release);
}

void* MapOwn(std::size_t bytes) {
  void* const mapped = MapPrivate(bytes);
  if (mapped != nullptr) NoteOwnMemory(mapped, bytes);
  return mapped;
}

}  // namespace leakgate::agent
