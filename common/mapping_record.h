// The mappings that the program has made itself (mmap and its family), and the stacks of its
// threads. There is one record for each, in a table of the region.
//
// The agent writes records under a lock, and the runner reads them at any time: `sequence` is odd
// while a record changes, and a higher number afterwards. It is written with release and read with
// acquire. A mapping that is cut in two has two records from then on.
//
//   mmap 3 pages                 [ A            ]
//   munmap the middle one        [ A ]      [ A ]
//   mprotect of a reserved one   [ A ][ B  ][ A ]   B: committed by that call
#pragma once

#include <atomic>
#include <cstdint>

#include "common/allocation_kind.h"

namespace leakgate {

struct MappingRecord {
  std::atomic<std::uint32_t> sequence;
  std::uint32_t stack;    // of the call that mapped or committed it
  std::uint64_t begin;    // 0 for the stack of a thread that has not begun
  std::uint64_t bytes;    // 0 if the record is not in use
  std::uint64_t time_ns;  // of that call; CLOCK_MONOTONIC
  std::uint32_t context;  // window, thread and allowance (region_layout.h, ContextRecord)
  AllocationKind kind;
  std::uint8_t protection;           // PROT_ bits; 0 if reserved and not committed
  std::uint8_t was_committed_later;  // 1 if committed by mprotect, not when it was mapped
  std::uint8_t reserved0;
  // For the agent: records are in a tree by address, or in a list of unused ones.
  std::uint32_t below;
  std::uint32_t above;
  std::uint32_t reserved1[4];
};
static_assert(sizeof(MappingRecord) == 64);

// The header in front of the table.
struct alignas(64) MappingTotals {
  std::atomic<std::uint32_t> record_count;  // records ever in use at once; ids are from 1
  std::uint32_t reserved;
  // All that was ever committed, even if it has been unmapped. Relaxed.
  std::atomic<std::uint64_t> mapped_bytes;
  std::atomic<std::uint64_t> mapped_count;
};
static_assert(sizeof(MappingTotals) == 64);

}  // namespace leakgate
