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

}  // namespace leakgate
