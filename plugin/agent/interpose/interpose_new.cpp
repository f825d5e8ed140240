// operator new and delete, in every form. If the runtime's operators would only call malloc and
// free, these are called directly: one interposed call, not two.
//
// A foreign operator new may throw through the agent's frames, which have no cleanups of C++'s.
#include <atomic>
#include <new>

#include "plugin/agent/interpose/interpose.h"

using namespace leakgate::agent;
using leakgate::AllocationKind;
using leakgate::FreeKind;

// Called by the unwinder for each frame of GuardedThrowing that an exception leaves; the parameters
// are those of _Unwind_Personality_Fn in the Itanium C++ ABI.
extern "C" LEAKGATE_INTERNAL int leakgate_release_allocator_guard(int, int actions, std::uint64_t,
                                                                  void*, void*) {
  constexpr int kCleanupPhase = 2;
  constexpr int kContinueUnwind = 8;
  if ((actions & kCleanupPhase) != 0 && t_thread.allocator_calls != 0) t_thread.LeaveAllocator();
  return kContinueUnwind;
}

namespace {

using Alignment = std::align_val_t;
using NoThrow = std::nothrow_t;

bool OnlyCallsMalloc() {
  return g_host.operators == OperatorSource::kRuntime || g_host.operators == OperatorSource::kNone;
}

// The program's operators have turned out to call its malloc, which records their blocks.
void UseProgramsOperators() {
  std::atomic_ref(g_host.operators).store(OperatorSource::kProgram, std::memory_order_release);
  g_region.header().has_own_operators = 1;
}

// Allocates as the runtime's operators do.
constexpr auto kMalloc = [](std::size_t bytes, const auto&...) {
  return g_host.malloc(bytes == 0 ? 1 : bytes);
};
constexpr auto kMemalign = [](std::size_t bytes, Alignment alignment, const auto&...) {
  return g_host.memalign(static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes);
};

// A form of operator new. `kLike` allocates as the runtime's would; `kHost` is the
// host's own, which throws or calls the new-handler as it must.
template <AllocationKind kKind, auto kLike, auto kHost, typename... Rest>
struct New {
  __attribute__((always_inline)) static void* Allocate(const CallerFrame& caller, std::size_t bytes,
                                                       Rest... rest) {
    if (TracesRuntimeNew()) {
      void* const block = kLike(bytes, rest...);
      if (__builtin_expect(block != nullptr, 1)) {
        return RecordAllocation(block, bytes, kKind, caller);
      }
    } else if (IsOff() && OnlyCallsMalloc()) {
      void* const block = kLike(bytes, rest...);
      if (block != nullptr) return block;
    }
    void* block = Otherwise(caller.pc, caller.sp, caller.fp, bytes, rest...);
    asm(""
        // No tail call: distinguishes a program's own operator from the forwarding one.
        : "+r"(block));
    return block;
  }

 private:
  // Called if memory is short, or if the operators or the allocator are not the usual ones.
  __attribute__((noinline)) static void* Otherwise(std::uint64_t caller_pc, std::uint64_t caller_sp,
                                                   std::uint64_t caller_fp, std::size_t bytes,
                                                   Rest... rest) {
    const CallerFrame caller{caller_pc, caller_sp, caller_fp};
    if (RecordsRuntimeNew()) {
      void* const block = kLike(bytes, rest...);
      if (block != nullptr) {
        return RecordAllocation<Events::kWritten>(block, bytes, kKind, caller);
      }
    }
    const auto like = [=](std::size_t asked) { return kLike(asked, rest...); };
    const auto host = [=](std::size_t asked) { return kHost(asked, rest...); };
    const bool traces = CurrentRoute() == Route::kTrace;
    if (traces && g_host.operators == OperatorSource::kAllocator) {
      ForgetInnerBlocks();
      void* const block = GuardedThrowing([&] { return host(AskedOf(bytes)); });
      const std::optional<InnerBlock> inner = FindInnerBlock(block);
      if (inner && inner->block != block) {
        UseProgramsOperators();
        RecordAnyAllocation(const_cast<void*>(inner->block), inner->size_bytes, kKind,
                            ThroughEntry(caller));
        return block;
      }
      return RecordAnyAllocation(block, bytes, kKind, ThroughEntry(caller));
    }
    if (OnlyCallsMalloc()) {
      void* const block = traces ? Traced(kKind, bytes, caller, like) : like(bytes);
      if (block != nullptr) return block;
    }
    if (g_host.operators == OperatorSource::kNone) ResolveLateOperators();
    // The forms call one another: the innermost has recorded the block.
    void* const block = host(bytes);
    if (traces && g_host.operators != OperatorSource::kAllocator) CorrectKind(block, kKind);
    return block;
  }
};

// A form of operator delete. `kHost` is the host's own.
template <FreeKind kKind, auto kHost, typename... Rest>
struct Delete {
  __attribute__((always_inline)) static void Free(const CallerFrame& caller, void* block,
                                                  Rest... rest) {
    if (TracesRuntimeDelete() ? RecordFreeHere(block, kKind) : IsOff() && OnlyCallsMalloc()) {
      return g_host.free(block);
    }
    Otherwise(block, caller.pc, caller.sp, caller.fp, rest...);
  }

 private:
  __attribute__((noinline)) static void Otherwise(void* block, std::uint64_t caller_pc,
                                                  std::uint64_t caller_sp, std::uint64_t caller_fp,
                                                  Rest... rest) {
    if (TracesRuntimeDelete() && RecordFreeInWindow(block, kKind)) return g_host.free(block);
    if (RecordsRuntimeDelete() && (RecordFreeHere<Events::kWritten>(block, kKind) ||
                                   RecordFreeInWindow<Events::kWritten>(block, kKind))) {
      return g_host.free(block);
    }
    const Route route = RouteOfOtherCall();
    if (g_host.operators == OperatorSource::kProgram) return kHost(block, rest...);
    const FreeCall call{kKind, ThroughEntry({caller_pc, caller_sp, caller_fp})};
    const bool is_recorded = route == Route::kTrace && RecordAnyFree(block, call);
    // The program's own operator may free another address, by a function that records that.
    if (!is_recorded && g_host.operators == OperatorSource::kAllocator) {
      return kHost(block, rest...);
    }
    const AllocatorGuard guard;
    if (OnlyCallsMalloc()) return g_host.free(block);
    kHost(block, rest...);
  }
};

// An allocator's sized forms are called without the size, because the block may be larger than the
// program knows.
template <auto kUnsized, auto kSized>
constexpr auto kSizedDelete = [](void* block, std::size_t bytes, auto... alignment) {
  if (g_host.operators == OperatorSource::kAllocator) return kUnsized(block, alignment...);
  kSized(block, bytes, alignment...);
};

}  // namespace

// FindOperators on another thread may just have found the program's own operators: its release
// pairs with this fence, so that the function is visible, too.
#define LEAKGATE_HOST(name)                              \
  [](auto... given) {                                    \
    std::atomic_thread_fence(std::memory_order_acquire); \
    return g_host.name(given...);                        \
  }
#define LEAKGATE_OPERATOR __attribute__((visibility("default")))

LEAKGATE_OPERATOR void* operator new(std::size_t bytes) {
  using Form = New<AllocationKind::kNew, kMalloc, LEAKGATE_HOST(op_new)>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes);
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes) {
  using Form = New<AllocationKind::kNewArray, kMalloc, LEAKGATE_HOST(op_new_array)>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes);
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, const NoThrow& tag) noexcept {
  using Form = New<AllocationKind::kNew, kMalloc, LEAKGATE_HOST(op_new_nothrow), NoThrow>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, tag);
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, const NoThrow& tag) noexcept {
  using Form =
      New<AllocationKind::kNewArray, kMalloc, LEAKGATE_HOST(op_new_array_nothrow), NoThrow>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, tag);
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, Alignment alignment) {
  using Form = New<AllocationKind::kNew, kMemalign, LEAKGATE_HOST(op_new_aligned), Alignment>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, alignment);
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, Alignment alignment) {
  using Form =
      New<AllocationKind::kNewArray, kMemalign, LEAKGATE_HOST(op_new_array_aligned), Alignment>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, alignment);
}

LEAKGATE_OPERATOR void* operator new(std::size_t bytes, Alignment alignment,
                                     const NoThrow& tag) noexcept {
  using Form = New<AllocationKind::kNew, kMemalign, LEAKGATE_HOST(op_new_aligned_nothrow),
                   Alignment, NoThrow>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, alignment, tag);
}

LEAKGATE_OPERATOR void* operator new[](std::size_t bytes, Alignment alignment,
                                       const NoThrow& tag) noexcept {
  using Form = New<AllocationKind::kNewArray, kMemalign,
                   LEAKGATE_HOST(op_new_array_aligned_nothrow), Alignment, NoThrow>;
  return Form::Allocate(LEAKGATE_CALLER(), bytes, alignment, tag);
}

LEAKGATE_OPERATOR void operator delete(void* block) noexcept {
  Delete<FreeKind::kDelete, LEAKGATE_HOST(op_delete)>::Free(LEAKGATE_CALLER(), block);
}

LEAKGATE_OPERATOR void operator delete[](void* block) noexcept {
  Delete<FreeKind::kDeleteArray, LEAKGATE_HOST(op_delete_array)>::Free(LEAKGATE_CALLER(), block);
}

LEAKGATE_OPERATOR void operator delete(void* block, std::size_t bytes) noexcept {
  constexpr auto kHost = kSizedDelete<LEAKGATE_HOST(op_delete), LEAKGATE_HOST(op_delete_sized)>;
  Delete<FreeKind::kDelete, kHost, std::size_t>::Free(LEAKGATE_CALLER(), block, bytes);
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::size_t bytes) noexcept {
  constexpr auto kHost =
      kSizedDelete<LEAKGATE_HOST(op_delete_array), LEAKGATE_HOST(op_delete_array_sized)>;
  Delete<FreeKind::kDeleteArray, kHost, std::size_t>::Free(LEAKGATE_CALLER(), block, bytes);
}

LEAKGATE_OPERATOR void operator delete(void* block, const NoThrow& tag) noexcept {
  Delete<FreeKind::kDelete, LEAKGATE_HOST(op_delete_nothrow), NoThrow>::Free(LEAKGATE_CALLER(),
                                                                             block, tag);
}

LEAKGATE_OPERATOR void operator delete[](void* block, const NoThrow& tag) noexcept {
  Delete<FreeKind::kDeleteArray, LEAKGATE_HOST(op_delete_array_nothrow), NoThrow>::Free(
      LEAKGATE_CALLER(), block, tag);
}

LEAKGATE_OPERATOR void operator delete(void* block, Alignment alignment) noexcept {
  Delete<FreeKind::kDelete, LEAKGATE_HOST(op_delete_aligned), Alignment>::Free(LEAKGATE_CALLER(),
                                                                               block, alignment);
}

LEAKGATE_OPERATOR void operator delete[](void* block, Alignment alignment) noexcept {
  Delete<FreeKind::kDeleteArray, LEAKGATE_HOST(op_delete_array_aligned), Alignment>::Free(
      LEAKGATE_CALLER(), block, alignment);
}

LEAKGATE_OPERATOR void operator delete(void* block, std::size_t bytes,
                                       Alignment alignment) noexcept {
  constexpr auto kHost =
      kSizedDelete<LEAKGATE_HOST(op_delete_aligned), LEAKGATE_HOST(op_delete_sized_aligned)>;
  Delete<FreeKind::kDelete, kHost, std::size_t, Alignment>::Free(LEAKGATE_CALLER(), block, bytes,
                                                                 alignment);
}

LEAKGATE_OPERATOR void operator delete[](void* block, std::size_t bytes,
                                         Alignment alignment) noexcept {
  constexpr auto kHost = kSizedDelete<LEAKGATE_HOST(op_delete_array_aligned),
                                      LEAKGATE_HOST(op_delete_array_sized_aligned)>;
  Delete<FreeKind::kDeleteArray, kHost, std::size_t, Alignment>::Free(LEAKGATE_CALLER(), block,
                                                                      bytes, alignment);
}

LEAKGATE_OPERATOR void operator delete(void* block, Alignment alignment,
                                       const NoThrow& tag) noexcept {
  Delete<FreeKind::kDelete, LEAKGATE_HOST(op_delete_aligned_nothrow), Alignment, NoThrow>::Free(
      LEAKGATE_CALLER(), block, alignment, tag);
}

LEAKGATE_OPERATOR void operator delete[](void* block, Alignment alignment,
                                         const NoThrow& tag) noexcept {
  Delete<FreeKind::kDeleteArray, LEAKGATE_HOST(op_delete_array_aligned_nothrow), Alignment,
         NoThrow>::Free(LEAKGATE_CALLER(), block, alignment, tag);
}
