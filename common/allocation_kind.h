// How memory was allocated. This is kept with each live block, so that a report can name it and a
// mismatched free can be noticed, and with each mapping.
#pragma once

#include <cstdint>

namespace leakgate {

// Stored in four bits of a live slot (common/live_slot.h).
enum class AllocationKind : std::uint8_t {
  // By Windows' own functions, as HeapAlloc and CoTaskMemAlloc. The runner finds it by the call
  // stack; no live slot has it.
  kHeap = 0,
  kMalloc = 1,
  kCalloc = 2,
  kRealloc = 3,   // realloc and reallocarray
  kMemalign = 4,  // aligned_alloc, posix_memalign, memalign, valloc, pvalloc
  kNew = 5,
  kNewArray = 6,
  // The kinds of what the program maps itself (mapping_record.h). No block has one.
  kMapped = 7,        // anonymous and private
  kMappedFile = 8,    // of a file, shared or not
  kMappedShared = 9,  // anonymous and shared, or a System V segment
  kThreadStack = 10,
  // From a pool: by the program's own allocator, which it has told of (leakgate/pool.h).
  kPool = 13,
};

// A slot tells with the kind whether pools have had blocks within the block: then frees of it take
// the slow path. The kinds of mappings are free for that.
inline constexpr std::uint8_t kChunkKindOffset = 6;
constexpr bool IsChunkKind(AllocationKind kind) {
  return kind >= AllocationKind::kMapped && kind < AllocationKind::kPool;
}
// REQUIRES: `kind` is a block's, and neither kHeap nor kPool.
constexpr AllocationKind AsChunk(AllocationKind kind) {
  return IsChunkKind(kind)
             ? kind
             : static_cast<AllocationKind>(static_cast<std::uint8_t>(kind) + kChunkKindOffset);
}
constexpr AllocationKind WithoutChunk(AllocationKind kind) {
  return IsChunkKind(kind)
             ? static_cast<AllocationKind>(static_cast<std::uint8_t>(kind) - kChunkKindOffset)
             : kind;
}
static_assert(WithoutChunk(AsChunk(AllocationKind::kNewArray)) == AllocationKind::kNewArray &&
              IsChunkKind(AsChunk(AllocationKind::kMalloc)) &&
              IsChunkKind(AsChunk(AllocationKind::kNewArray)));

}  // namespace leakgate
