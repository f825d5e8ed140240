// A live block and a mapping, each copied out of the region and checked.
#pragma once

#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMalloc;
  // Where the block was allocated, by ids of the same region:
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;  // the allowance of the program's code; 0: none
  std::uint32_t phase = 0;      // stands for the measuring windows that were open; 0: none was
};

// A mapping that the program has made itself, or a thread's stack.
struct MappingCopy {
  std::uint64_t address = 0;  // 0: the stack of a thread that has not begun
  std::uint64_t size_bytes = 0;
  AllocationKind kind = AllocationKind::kMapped;
  unsigned protection = 0;  // the PROT_ bits when mapped or first committed; 0: only reserved
  // The call that mapped or committed it, by ids of the same region:
  std::uint32_t stack = 0;
  std::uint32_t window = 0;
  std::uint32_t thread = 0;
  std::uint32_t allowance = 0;
  std::uint64_t time_ns = 0;  // when, by CLOCK_MONOTONIC
};

[[nodiscard]] inline bool IsReserved(const MappingCopy& mapping) { return mapping.protection == 0; }

}  // namespace leakgate
