// The events whose call stacks are recorded. A session chooses them, as -stackwalk does in heap
// tracing on Windows. Counting does not depend on this: every block is counted.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

// Bits of RegionHeader::stack_events.
inline constexpr std::uint32_t kStacksOfAlloc = 1;    // malloc, calloc, memalign, new, new[]
inline constexpr std::uint32_t kStacksOfRealloc = 2;  // realloc and reallocarray
inline constexpr std::uint32_t kStacksOfFree = 4;     // all functions that free, including realloc
inline constexpr std::uint32_t kAllStackEvents = 7;
// Besides stacks: what each stack has allocated is counted, freed or not.
inline constexpr std::uint32_t kCountsAllocations = 8;
inline constexpr std::uint32_t kKnownStackEvents = kAllStackEvents | kCountsAllocations;
inline constexpr std::uint32_t kDefaultStackEvents = kStacksOfAlloc | kStacksOfRealloc;

// The event that a block of `kind` comes from.
constexpr std::uint32_t StackEventOf(AllocationKind kind) {
  return kind == AllocationKind::kRealloc ? kStacksOfRealloc : kStacksOfAlloc;
}

}  // namespace leakgate
