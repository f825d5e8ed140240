// One live block, copied out of the region and checked.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMalloc;
  std::uint32_t stack = 0;   // a stack id of the same region
  std::uint32_t window = 0;  // the window in which it was allocated
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;  // of the code's, within which it was allocated; 0: none
  std::uint32_t phase = 0;      // tells the measuring windows that were open; 0: none
};

// A mapping that the program has made itself, or a thread's stack, copied out of the
// region and checked.

struct MappingCopy {
  std::uint64_t address = 0;  // 0: of a thread's stack, where the thread has not begun
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMapped;
  unsigned protection = 0;  // PROT_ bits: as mapped, or as first committed; 0: only reserved
  std::uint32_t stack = 0;  // of the call that mapped or committed it
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;
  std::uint64_t time_ns = 0;  // of the call; CLOCK_MONOTONIC
};

[[nodiscard]] inline bool IsReserved(const MappingCopy& mapping) { return mapping.protection == 0; }

}  // namespace leakgate
