#include "plugin/agent/base/region.h"

#include <cstring>

#include "common/system.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

constinit Region g_region;

TextRef Region::AddText(const char* text, std::uint32_t length) const {
  std::atomic<std::uint32_t>& used = header().text_bytes;
  std::uint32_t offset = used.load(std::memory_order_relaxed);
  do {
    if (length > kMaxTextBytes - offset) {
      Drop(DropReason::kTextFull);
      return {0, 0};
    }
  } while (!used.compare_exchange_weak(offset, offset + length, std::memory_order_relaxed));
  if (!MakeRoom(this->text() + offset, length)) {
    Drop(DropReason::kTextFull);
    return {0, 0};
  }
  std::memcpy(this->text() + offset, text, length);
  return {offset, length};
}

void NoteOwnMemory(const void* begin, std::size_t bytes) {
  const std::uint32_t index =
      g_region.header().own_range_count.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxOwnRanges) return;
  OwnRange& range = g_region.own_ranges()[index];
  range.begin = reinterpret_cast<std::uint64_t>(begin);
  // The end is stored last, with release: an entry without an end is not complete yet.
  std::atomic_ref(range.end).store(range.begin + bytes, std::memory_order_release);
}

void* MapOwn(std::size_t bytes) {
  void* const mapped = MapPrivate(bytes);
  if (mapped == nullptr) return nullptr;
  LeaveOutOfCoreDumps(mapped, bytes);
  NoteOwnMemory(mapped, bytes);
  return mapped;
}

}  // namespace leakgate::agent
