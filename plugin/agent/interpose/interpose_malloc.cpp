// malloc and its family.
#include <malloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "plugin/agent/host/bootstrap_heap.h"
#include "plugin/agent/interpose/interpose.h"

using namespace leakgate::agent;
using leakgate::AllocationKind;
using leakgate::FreeKind;

namespace {

// Called if the agent has not started yet, the allocator is foreign, or no stack is to be recorded.
__attribute__((noinline)) void* MallocOtherwise(std::size_t bytes) {
  if (RecordsLibcMalloc()) {
    void* const block = g_host.malloc(bytes);
    return RecordAllocation<Events::kWritten>(block, bytes, AllocationKind::kMalloc,
                                              LEAKGATE_CALLER());
  }
  const Route route = CurrentRoute();
  if (route == Route::kForward) return g_host.malloc(bytes);
  if (route == Route::kBootstrap) return bootstrap_heap::Allocate(bytes);
  return Traced(AllocationKind::kMalloc, bytes, LEAKGATE_CALLER(),
                [](std::size_t asked) { return g_host.malloc(asked); });
}

// Called in the same cases, and for any block that another thread, or an earlier window, allocated,
// or whose freeing stack is to be recorded.
__attribute__((noinline)) void FreeOtherwise(void* block, std::uint64_t caller_pc,
                                             std::uint64_t caller_sp, std::uint64_t caller_fp) {
  if (TracesLibcFree() && RecordFreeInWindow(block, FreeKind::kFree)) return g_host.free(block);
  if (RecordsLibcFree() && (RecordFreeHere<Events::kWritten>(block, FreeKind::kFree) ||
                            RecordFreeInWindow<Events::kWritten>(block, FreeKind::kFree))) {
    return g_host.free(block);
  }
  if (bootstrap_heap::Owns(block) || RouteOfOtherCall() == Route::kBootstrap) return;
  const FreeCall call{FreeKind::kFree, ThroughEntry({caller_pc, caller_sp, caller_fp})};
  if (IsTracing()) RecordAnyFree(block, call);
  const AllocatorGuard guard;
  g_host.free(block);
}

}  // namespace

LEAKGATE_EXPORT void* malloc(std::size_t bytes) noexcept {
  if (TracesLibcMalloc()) {
    void* const block = g_host.malloc(bytes);
    return RecordAllocation(block, bytes, AllocationKind::kMalloc, LEAKGATE_CALLER());
  }
  return IsOff() ? g_host.malloc(bytes) : MallocOtherwise(bytes);
}

LEAKGATE_EXPORT void free(void* block) noexcept {
  if (TracesLibcFree() ? RecordFreeHere(block, FreeKind::kFree)
                       : IsOff() && !bootstrap_heap::Owns(block)) {
    return g_host.free(block);
  }
  const CallerFrame caller = LEAKGATE_CALLER();
  FreeOtherwise(block, caller.pc, caller.sp, caller.fp);
}

LEAKGATE_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
  const Route route = CurrentRoute();
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  if (route == Route::kForward || overflows) return g_host.calloc(count, size);
  if (route == Route::kBootstrap) return bootstrap_heap::Allocate(bytes);
  return Traced(AllocationKind::kCalloc, bytes, LEAKGATE_CALLER(), [=](std::size_t asked) {
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

  return TracedAgain(block, bytes, caller,
                     [=](std::size_t asked) { return g_host.realloc(block, asked); });
}

}  // namespace

LEAKGATE_EXPORT void* realloc(void* block, std::size_t bytes) noexcept {
  return Reallocate(block, bytes, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Reallocate(block, bytes, LEAKGATE_CALLER());
}

LEAKGATE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.memalign(alignment, bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER(),
                [=](std::size_t asked) { return g_host.memalign(alignment, asked); });
}

LEAKGATE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.aligned_alloc(alignment, bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER(),
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
    RecordAnyAllocation(*block, bytes, AllocationKind::kMemalign, ThroughEntry(LEAKGATE_CALLER()));
  }
  return result;
}

LEAKGATE_EXPORT void* valloc(std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.valloc(bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER(),
                [](std::size_t asked) { return g_host.valloc(asked); });
}

LEAKGATE_EXPORT void* pvalloc(std::size_t bytes) noexcept {
  if (CurrentRoute() != Route::kTrace) return g_host.pvalloc(bytes);
  return Traced(AllocationKind::kMemalign, bytes, LEAKGATE_CALLER(),
                [](std::size_t asked) { return g_host.pvalloc(asked); });
}

// The same functions under glibc's own names for them, which bypass any interposed malloc. If the
// allocator is another one, it may use these internally: then the calls are not recorded. The same
// holds as long as the allocator is not known. They never start the agent: the caller may be an
// allocator that is just starting.
namespace {

bool AreMallocs() { return AreHostsResolved() && !g_host.allocator_is_foreign; }

}  // namespace

LEAKGATE_EXPORT void* __libc_malloc(std::size_t bytes) {
  if (AreMallocs()) return malloc(bytes);
  return HostFunction(g_host.libc_malloc, "__libc_malloc")(bytes);
}

LEAKGATE_EXPORT void __libc_free(void* block) {
  if (AreMallocs()) return free(block);
  return HostFunction(g_host.libc_free, "__libc_free")(block);
}

LEAKGATE_EXPORT void* __libc_calloc(std::size_t count, std::size_t size) {
  if (AreMallocs()) return calloc(count, size);
  return HostFunction(g_host.libc_calloc, "__libc_calloc")(count, size);
}

LEAKGATE_EXPORT void* __libc_realloc(void* block, std::size_t bytes) {
  if (AreMallocs()) return realloc(block, bytes);
  return HostFunction(g_host.libc_realloc, "__libc_realloc")(block, bytes);
}

LEAKGATE_EXPORT void* __libc_memalign(std::size_t alignment, std::size_t bytes) {
  if (AreMallocs()) return memalign(alignment, bytes);
  return HostFunction(g_host.libc_memalign, "__libc_memalign")(alignment, bytes);
}

LEAKGATE_EXPORT void* __libc_valloc(std::size_t bytes) {
  if (AreMallocs()) return valloc(bytes);
  return HostFunction(g_host.libc_valloc, "__libc_valloc")(bytes);
}

LEAKGATE_EXPORT void* __libc_pvalloc(std::size_t bytes) {
  if (AreMallocs()) return pvalloc(bytes);
  return HostFunction(g_host.libc_pvalloc, "__libc_pvalloc")(bytes);
}
