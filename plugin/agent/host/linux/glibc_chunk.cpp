#include "plugin/agent/host/glibc_chunk.h"

#include <atomic>

#include "common/region_layout.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

constexpr std::uint64_t kPreviousInUse = 1;
constexpr std::uint64_t kIsMapped = 2;
constexpr std::uint64_t kFlags = 15;
constexpr std::uint64_t kLeastChunk = 32;

// 0: not known. Relaxed: the number is the same each time it is found out.
constinit std::atomic<std::uint64_t> g_freed_mark{0};

std::uint64_t WordAt(std::uint64_t address) {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

std::uint64_t MarkOfFreed(std::size_t bytes) {
  void* const block = g_host.malloc(bytes);
  if (block == nullptr) return 0;
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const bool stays =
      // It is mapped by itself if MALLOC_MMAP_THRESHOLD_ is 0.
      (WordAt(address - 8) & kIsMapped) == 0;
  g_host.free(block);
  return stays ? WordAt(address + 8) : 0;
}

// Returns whether the chunk is free, as the next chunk says.
bool NextSaysFree(std::uint64_t block) {
  const std::uint64_t size_word = WordAt(block - 8);
  const std::uint64_t size = size_word & ~kFlags;
  if ((size_word & kIsMapped) != 0 || size < kLeastChunk || size >> kAddressBits != 0) return false;
  const std::uint64_t next = block - 8 + size;
  return IsReadable(next) && (WordAt(next) & kPreviousInUse) == 0;
}

}  // namespace

void LearnFreedMark() {
  const std::uint64_t mark = MarkOfFreed(24);
  if (mark == MarkOfFreed(40)) g_freed_mark.store(mark, std::memory_order_relaxed);
}

bool IsFreeChunk(std::uint64_t block) {
  if (!IsReadable(block - 8) || !IsReadable(block + 8)) return true;
  const std::uint64_t mark = g_freed_mark.load(std::memory_order_relaxed);
  if (mark != 0 && WordAt(block + 8) == mark) return true;
  return NextSaysFree(block);
}

}  // namespace leakgate::agent
