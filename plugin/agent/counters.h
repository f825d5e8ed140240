// Counting, on the hot path: each thread adds to its own shard with plain
// stores. A shard counts for one window at a time; when the window moves on,
// what it holds is handed over to the window's record.
//
// A sum over shards is exact when no other thread is allocating, and told apart
// by sequence numbers when one hands over in the middle of it.
#pragma once

#include <cstdint>

#include "common/live_slot.h"
#include "plugin/agent/region.h"

namespace leakgate::agent {

// Blocks and bytes outstanding in a window, as counted.
struct WindowSum {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  bool is_exact = false;  // false: threads kept moving; the live map knows better
};

// The owner of `shard` allocated a block of `size_bytes` in `window`.
void CountAllocation(CounterShard& shard, std::uint32_t window, std::uint64_t size_bytes);

// The owner of `shard` freed a block that was allocated in `window`.
void CountFree(CounterShard& shard, std::uint32_t window, std::uint64_t size_bytes);

[[nodiscard]] WindowSum SumWindow(std::uint32_t window);
[[nodiscard]] Totals SumTotals();

}  // namespace leakgate::agent
