// Counting on the hot path: each thread adds to its own shard with plain stores. A shard counts for
// one window and one phase at a time. When these change, its outstanding amount is handed over to
// the record of the window, and of the phase.
//
// A sum over shards is exact when no other thread is allocating. Otherwise it may be too large, and
// is never too small. If a thread hands over during it, sequence numbers show this
// (tests/unit/memory_model/sums_test.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/region.h"

#include LEAKGATE_ARCH(counter)

namespace leakgate::agent {

// Blocks and bytes outstanding in a window, as counted.
struct WindowSum {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  bool is_exact = false;  // false if threads kept handing over; then the live map is more accurate
};

// A block that stays live during the call is counted, whatever other threads do.
[[nodiscard]] WindowSum SumWindow(std::uint32_t window);
[[nodiscard]] Totals SumTotals();
// How many bytes of blocks of pools are live. The chunks that they are in are live, too.
[[nodiscard]] std::uint64_t SumPooled();

// Sums the phases from `first` to less than `end`.
[[nodiscard]] WindowSum SumPhases(std::uint32_t first, std::uint32_t end);

// For what a block is counted: a window and a phase (phases.h).
struct Charge {
  std::uint32_t window = 0;
  std::uint32_t phase = 0;

  friend bool operator==(const Charge&, const Charge&) = default;
};

inline Charge ChargeOf(const CounterShard& shard) {
  return {shard.window.load(std::memory_order_relaxed),
          shard.phase.load(std::memory_order_relaxed)};
}

// Makes the owner's shard count for `charge` from now on.
void HandOver(CounterShard& shard, const Charge& charge);
// A free as it was counted, so that it can be undone.
struct CountedFree {
  Charge charge;  // of the allocation
  std::uint64_t size_bytes = 0;
  std::optional<std::uint32_t> earlier_free;  // its entry in the region's table
};

// Counts a free of a block whose window or phase is not the shard's. Blocks of another window are
// also noted one by one. The block was allocated at `stack`.
CountedFree CountFreeElsewhere(CounterShard& shard, const Charge& charge, std::uint64_t size_bytes,
                               std::uint32_t stack);
// Undoes a free that was counted, but did not happen after all.
void UndoFree(CounterShard& shard, const CountedFree& counted);

inline void AddBlock(Tally& tally, std::uint64_t size_bytes) {
  AddAsOwner(tally.bytes, size_bytes);
  AddAsOwner(tally.blocks, 1);
}

inline void RemoveBlock(Tally& tally, std::uint64_t size_bytes) {
  AddAsOwner(tally.bytes, 0 - size_bytes);
  AddAsOwner(tally.blocks, ~std::uint64_t{0});
}

// Raises the current window's peak to the present live amount. Once a window is closed, its peak
// also counts for the windows around it.
void NotePeak(CounterShard& shard);
void RaisePeak(std::uint32_t window, std::uint64_t live_bytes);

// Never more than were live: see SumTotals. More may have been freed meanwhile than was live. What
// pools have given out is in blocks that count already.
inline std::uint64_t LiveBytes(const Totals& totals) {
  const auto live =
      static_cast<std::int64_t>(totals.allocated_bytes - totals.freed_bytes - SumPooled());
  return live > 0 ? static_cast<std::uint64_t>(live) : 0;
}

// Counts a block that the owner of `shard` has allocated in the shard's window. Returns whether it
// is time for NotePeak.
[[nodiscard]] inline bool CountAllocation(CounterShard& shard, std::uint64_t size_bytes) {
  AddBlock(shard.allocated, size_bytes);
  return shard.allocated.bytes.load(std::memory_order_relaxed) >= shard.next_peak_check;
}

// Counts that the owner of `shard` has freed a block that is charged to `charge`, and was allocated
// at `stack`.
inline CountedFree CountFree(CounterShard& shard, const Charge& charge, std::uint64_t size_bytes,
                             std::uint32_t stack) {
  if (ChargeOf(shard) != charge) {
    return CountFreeElsewhere(shard, charge, size_bytes, stack);
  }
  AddBlock(shard.freed_here, size_bytes);
  return {charge, size_bytes, std::nullopt};
}

}  // namespace leakgate::agent
