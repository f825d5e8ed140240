// malloc and its family.
#include <malloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "plugin/agent/bootstrap_heap.h"
#include "plugin/agent/interpose.h"

using namespace leakgate::agent;
using leakgate::AllocationKind;

LEAKGATE_EXPORT void* malloc(std::size_t bytes) noexcept {
  const Route route = CurrentRoute();
  if (route == Route::kForward) return g_host.malloc(bytes);
  if (route == Route::kBootstrap) return bootstrap_heap::Allocate(bytes);
  return Traced(AllocationKind::kMalloc, bytes, LEAKGATE_CALLER_FRAME(),
                [=](std::size_t asked) { return g_host.malloc(asked); });
}

namespace {

// What to ask the host's allocator for. Nothing stays nothing: realloc frees then.
std::size_t AskedOf(std::size_t bytes) {
  return g_host.allocator_is_foreign && bytes != 0 ? CoveringTwoGranules(bytes) : bytes;
}

// A block that is not in the live map, or that a foreign allocator made.
__attribute__((noinline)) void FreeOther(void* block) {
  if (bootstrap_heap::Owns(block) || CurrentRoute() == Route::kBootstrap) return;
  if (IsTracing() && g_host.allocator_is_foreign) RecordFree(block);
  const AllocatorGuard guard;
  g_host.free(block);
}

}  // namespace

LEAKGATE_EXPORT void free(void* block) noexcept {
  if (IsTracing() && !g_host.allocator_is_foreign && RecordFree(block).IsLive()) {
    g_host.free(block);
  } else {
    FreeOther(block);
  }
}

LEAKGATE_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  const Route route = CurrentRoute();
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  if (route == Route::kForward || overflows) return g_host.calloc(count, size);
  if (route == Route::kBootstrap) return bootstrap_heap::Allocate(bytes);
  return Traced(AllocationKind::kCalloc, bytes, LEAKGATE_CALLER_FRAME(), [=](std::size_t asked) {
    return asked == bytes ? g_host.calloc(count, size) : g_host.calloc(1, asked);
  });
}

namespace {

void* LeaveBootstrap(void* block, std::size_t bytes) {
  void* const copy = malloc(bytes);
  if (copy == nullptr) return nullptr;
  const std::size_t readable = bootstrap_heap::Readable(block);
  std::memcpy(copy, block, bytes < readable ? bytes : readable);
  return copy;
}

void* Reallocate(void* block, std::size_t bytes, const CallerFrame& caller) {
  if (bootstrap_heap::Owns(block)) return LeaveBootstrap(block, bytes);
  const Route route = CurrentRoute();
  if (route == Route::kForward) return g_host.realloc(block, bytes);
  if (route == Route::kBootstrap) return bootstrap_heap::Allocate(bytes);

  const LiveWords before = RecordFree(block);
  void* moved = nullptr;
  {
    const AllocatorGuard guard;
    moved = g_host.realloc(block, AskedOf(bytes));
  }
  // Size 0 frees the block where nothing is returned; else nothing means failure.
  if (moved == nullptr && bytes != 0 && before.IsLive()) RestoreBlock(block, before);
  RecordAllocation(moved, bytes, AllocationKind::kRealloc, caller);
  return moved;
}

}  // namespace

LEAKGATE_EXPORT void* realloc(void* block, std::size_t bytes) noexcept {
  return Reallocate(block, bytes, LEAKGATE_CALLER_FRAME());
}

LEAKGATE_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Reallocate(block, bytes, LEAKGATE_CALLER_FRAME());
}

LEAKGATE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.memalign(alignment, bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER_FRAME(),
                [=](std::size_t asked) { return g_host.memalign(alignment, asked); });
}

LEAKGATE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.aligned_alloc(alignment, bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER_FRAME(),
                [=](std::size_t asked) { return g_host.aligned_alloc(alignment, asked); });
}

LEAKGATE_EXPORT int posix_memalign(void** block, std::size_t alignment,
                                   std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.posix_memalign(block, alignment, bytes);
  int result = 0;
  {
    const AllocatorGuard guard;
    result = g_host.posix_memalign(block, alignment, AskedOf(bytes));
  }
  if (result == 0) {
    RecordAllocation(*block, bytes, AllocationKind::kMemalign, LEAKGATE_CALLER_FRAME());
  }
  return result;
}

LEAKGATE_EXPORT void* valloc(std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.valloc(bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER_FRAME(),
                [](std::size_t asked) { return g_host.valloc(asked); });
}

LEAKGATE_EXPORT void* pvalloc(std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.pvalloc(bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER_FRAME(),
                [](std::size_t asked) { return g_host.pvalloc(asked); });
}
