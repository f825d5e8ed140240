// Calls that free a block which they must not free: a block of another family of functions, or one
// that has already been freed. They are noted only if it is certain.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

// A call that frees a block.
struct FreeCall {
  FreeKind kind;
  CallerFrame caller;
};

// The kinds from `first` to `last`, both included.
struct KindRange {
  AllocationKind first;
  AllocationKind last;
};

// The kinds of blocks that a call of `kind` may free.
constexpr KindRange KindsFreedBy(FreeKind kind) {
  if (kind == FreeKind::kDelete) return {AllocationKind::kNew, AllocationKind::kNew};
  if (kind == FreeKind::kDeleteArray) return {AllocationKind::kNewArray, AllocationKind::kNewArray};
  return {AllocationKind::kMalloc, AllocationKind::kMemalign};
}

constexpr bool MayFree(FreeKind free_kind, AllocationKind kind) {
  const KindRange kinds = KindsFreedBy(free_kind);
  return kind >= kinds.first && kind <= kinds.last;
}

// Returns whether it is certain that the call at `free_stack` must not free what the call at
// `allocation_stack` has allocated.
//
// A program may have operators of its own, which call malloc and free. Then one half of a pair may
// have gone through its operators, and the other half through ours. Operators that the program
// exports are seen. Those that are hidden in a module (for example by -static-libstdc++) serve only
// that module. So both calls must come from one module, or from the C library, which has no
// operators.
[[nodiscard]] bool IsSureMismatch(std::uint32_t free_stack, std::uint32_t allocation_stack);

// Whether the allocator's own bookkeeping says that the block which once began at `address` is
// free. Returns false if that is not known.
[[nodiscard]] bool IsFreedBlock(std::uint64_t address);

// Forgets all, for a new region. REQUIRES: no thread records.
void RestartFreeErrors();

// Notes an error, once for each window, kind and pair of stacks. REQUIRES: the thread is recording.
void NoteFreeError(const FreeError& error);

}  // namespace leakgate::agent
