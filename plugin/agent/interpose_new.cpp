// operator new and delete, in every form. Where the runtime's would only call
// malloc and free, they are called at once: one interposed call, not two.
//
// This file is compiled with exceptions, so that the allocator guard is undone
// when a foreign operator new throws. What that needs of the C++ runtime is
// weak: a program without the runtime never gets here.
#include <new>

#include "plugin/agent/interpose.h"

asm(".weak __gxx_personality_v0");
asm(".weak _Unwind_Resume");
asm(".weak _ZSt9terminatev");

using namespace leakgate::agent;
using leakgate::AllocationKind;

namespace {

bool OnlyCallsMalloc() {
  return g_host.operators == OperatorSource::kRuntime || g_host.operators == OperatorSource::kNone;
}

bool IsTracingRuntime() { return CurrentRoute() == Route::kTrace && OnlyCallsMalloc(); }

bool IsTracingAllocator() { return IsTracing() && g_host.operators == OperatorSource::kAllocator; }

// `like_malloc` allocates as the runtime's operator would, and `forward` is the
// host's operator, which throws or calls the new-handler as it must.
template <typename LikeMalloc, typename Forward>
__attribute__((always_inline)) inline void* New(AllocationKind kind, std::size_t bytes,
                                                const CallerFrame& caller,
                                                const LikeMalloc& like_malloc,
                                                const Forward& forward) {
  if (IsTracingRuntime()) {
    void* const block = Traced(kind, bytes, caller, like_malloc);
    if (__builtin_expect(block != nullptr, 1)) return block;
  } else if (IsTracingAllocator()) {
    return Traced(kind, bytes, caller, forward);
  }
  if (__builtin_expect(g_host.operators == OperatorSource::kNone, 0)) {
    void* const block = like_malloc(bytes);
    if (block != nullptr) return block;
    ResolveLateOperators();
  }
  return forward(bytes);
}

void* LikeMalloc(std::size_t asked) { return g_host.malloc(asked == 0 ? 1 : asked); }

void* LikeAlignedAlloc(std::size_t asked, std::align_val_t alignment) {
  return g_host.memalign(static_cast<std::size_t>(alignment), asked == 0 ? 1 : asked);
}

// `forward` is the host's operator. An allocator's sized forms are called
// unsized: the block may be larger than the program knows.
template <typename Forward>
__attribute__((always_inline)) inline void Delete(void* block, Forward forward) {
  const Route route = CurrentRoute();
  if (g_host.operators == OperatorSource::kProgram) return forward();
  if (route == Route::kTrace) RecordFree(block);
  const AllocatorGuard guard;
  if (OnlyCallsMalloc()) return g_host.free(block);
  forward();
}

}  // namespace

#define LEAKGATE_NEW(kind, like_malloc, forward) \
  New(AllocationKind::kind, bytes, LEAKGATE_CALLER_FRAME(), like_malloc, forward)

#define LEAKGATE_OPERATOR __attribute__((visibility("default")))

LEAKGATE_OPERATOR void* operator new(std::size_t bytes) {
  return LEAKGATE_NEW(kNew, LikeMalloc, [](std::size_t asked) { return g_host.op_new(asked); });
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes) {
  return LEAKGATE_NEW(kNewArray, LikeMalloc,
                      [](std::size_t asked) { return g_host.op_new_array(asked); });
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return LEAKGATE_NEW(kNew, LikeMalloc,
                      [&](std::size_t asked) { return g_host.op_new_nothrow(asked, tag); });
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return LEAKGATE_NEW(kNewArray, LikeMalloc,
                      [&](std::size_t asked) { return g_host.op_new_array_nothrow(asked, tag); });
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return LEAKGATE_NEW(
      kNew, [=](std::size_t asked) { return LikeAlignedAlloc(asked, alignment); },
      [=](std::size_t asked) { return g_host.op_new_aligned(asked, alignment); });
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return LEAKGATE_NEW(
      kNewArray, [=](std::size_t asked) { return LikeAlignedAlloc(asked, alignment); },
      [=](std::size_t asked) { return g_host.op_new_array_aligned(asked, alignment); });
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t& tag) noexcept {
  return LEAKGATE_NEW(
      kNew, [=](std::size_t asked) { return LikeAlignedAlloc(asked, alignment); },
      [&](std::size_t asked) { return g_host.op_new_aligned_nothrow(asked, alignment, tag); });
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
  return LEAKGATE_NEW(
      kNewArray, [=](std::size_t asked) { return LikeAlignedAlloc(asked, alignment); },
      [&](std::size_t asked) {
        return g_host.op_new_array_aligned_nothrow(asked, alignment, tag);
      });
}

LEAKGATE_OPERATOR void operator delete(void* block) noexcept {
  Delete(block, [=] { g_host.op_delete(block); });
}

LEAKGATE_OPERATOR void operator delete[](void* block) noexcept {
  Delete(block, [=] { g_host.op_delete_array(block); });
}

LEAKGATE_OPERATOR void operator delete(void* block, std::size_t bytes) noexcept {
  Delete(block, [=] {
    if (g_host.operators == OperatorSource::kAllocator) return g_host.op_delete(block);
    g_host.op_delete_sized(block, bytes);
  });
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::size_t bytes) noexcept {
  Delete(block, [=] {
    if (g_host.operators == OperatorSource::kAllocator) return g_host.op_delete_array(block);
    g_host.op_delete_array_sized(block, bytes);
  });
}

LEAKGATE_OPERATOR void operator delete(void* block, const std::nothrow_t& tag) noexcept {
  Delete(block, [&] { g_host.op_delete_nothrow(block, tag); });
}

LEAKGATE_OPERATOR void operator delete[](void* block, const std::nothrow_t& tag) noexcept {
  Delete(block, [&] { g_host.op_delete_array_nothrow(block, tag); });
}

LEAKGATE_OPERATOR void operator delete(void* block, std::align_val_t alignment) noexcept {
  Delete(block, [=] { g_host.op_delete_aligned(block, alignment); });
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::align_val_t alignment) noexcept {
  Delete(block, [=] { g_host.op_delete_array_aligned(block, alignment); });
}

LEAKGATE_OPERATOR void operator delete(void* block, std::size_t bytes,
                                       std::align_val_t alignment) noexcept {
  Delete(block, [=] {
    if (g_host.operators == OperatorSource::kAllocator) {
      return g_host.op_delete_aligned(block, alignment);
    }
    g_host.op_delete_sized_aligned(block, bytes, alignment);
  });
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::size_t bytes,
                                         std::align_val_t alignment) noexcept {
  Delete(block, [=] {
    if (g_host.operators == OperatorSource::kAllocator) {
      return g_host.op_delete_array_aligned(block, alignment);
    }
    g_host.op_delete_array_sized_aligned(block, bytes, alignment);
  });
}

LEAKGATE_OPERATOR void operator delete(void* block, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
  Delete(block, [&] { g_host.op_delete_aligned_nothrow(block, alignment, tag); });
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::align_val_t alignment,
                                         const std::nothrow_t& tag) noexcept {
  Delete(block, [&] { g_host.op_delete_array_aligned_nothrow(block, alignment, tag); });
}
