#include "plugin/agent/host/bootstrap_heap.h"

#include <atomic>
#include <cstdint>

namespace leakgate::agent::bootstrap_heap {
alignas(16) char g_memory[kBytes];

namespace {

// Relaxed: each caller gets bytes of its own.
constinit std::atomic<std::size_t> g_used{0};

}  // namespace

void* Allocate(std::size_t bytes) {
  if (bytes > kBytes) return nullptr;
  const std::size_t rounded = (bytes + 15) & ~std::size_t{15};
  const std::size_t offset = g_used.fetch_add(rounded, std::memory_order_relaxed);
  return offset + rounded <= kBytes ? g_memory + offset : nullptr;
}

std::size_t Readable(const void* block) {
  return static_cast<std::size_t>(g_memory + kBytes - static_cast<const char*>(block));
}

}  // namespace leakgate::agent::bootstrap_heap
