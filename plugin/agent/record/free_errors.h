// Blocks freed by what must not free them: by another family of functions than
// allocated them, or for the second time. Told only where it is certain.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"
#include "common/region_layout.h"
#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

// A call that frees.
struct FreeCall {
  FreeKind kind;
  CallerFrame caller;
};

// The kinds from `first` to `last`.
struct KindRange {
  AllocationKind first;
  AllocationKind last;
};

// Those that a call of `kind` may free.
constexpr KindRange KindsFreedBy(FreeKind kind) {
  if (kind == FreeKind::kDelete) return {AllocationKind::kNew, AllocationKind::kNew};
  if (kind == FreeKind::kDeleteArray) return {AllocationKind::kNewArray, AllocationKind::kNewArray};
  return {AllocationKind::kMalloc, AllocationKind::kMemalign};
}

constexpr bool MayFree(FreeKind free_kind, AllocationKind kind) {
  const KindRange kinds = KindsFreedBy(free_kind);
  return kind >= kinds.first && kind <= kinds.last;
}

// True if it is certain that `free_stack` should not free what `allocation_stack` did.
//
// A program may have operators of its own, which call malloc and free: then one half
// of a pair may be theirs, and the other ours. Those that it exports are seen; those
// hidden in a module (linked with -static-libstdc++, say) serve that module alone, so
// both calls must come from one module, or from the C library, which has none.
[[nodiscard]] bool IsSureMismatch(std::uint32_t free_stack, std::uint32_t allocation_stack);

// True if the block that once began at `address` is free, as the allocator's own
// bookkeeping says. Not known: false.
[[nodiscard]] bool IsFreedBlock(std::uint64_t address);

// For a new region. REQUIRES: no thread records.
void RestartFreeErrors();

// Once for each window, kind and pair of stacks. REQUIRES: the thread is recording.
void NoteFreeError(const FreeError& error);

}  // namespace leakgate::agent
