#include "plugin/agent/windows/counters.h"

#include "common/system.h"
#include "plugin/agent/windows/phases.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

struct Quantity {
  std::uint64_t bytes;
  std::uint64_t blocks;
};

Quantity Load(const Tally& tally) {
  return {tally.bytes.load(std::memory_order_relaxed),
          tally.blocks.load(std::memory_order_relaxed)};
}

void Store(Tally& tally, const Quantity& quantity) {
  tally.bytes.store(quantity.bytes, std::memory_order_relaxed);
  tally.blocks.store(quantity.blocks, std::memory_order_relaxed);
}

// What the shard's owner has outstanding in the shard's window. Unsigned
// arithmetic wraps, so it comes out right also where more was freed.
struct Outstanding {
  std::int64_t bytes;
  std::int64_t blocks;
};

Outstanding Difference(const Quantity& more, const Quantity& less) {
  return {static_cast<std::int64_t>(more.bytes - less.bytes),
          static_cast<std::int64_t>(more.blocks - less.blocks)};
}

Outstanding Freed(const CounterShard& shard) {
  return Difference(Load(shard.freed_here_before), Load(shard.freed_here));
}
Outstanding Allocated(const CounterShard& shard) {
  return Difference(Load(shard.allocated), Load(shard.allocated_before));
}

// Release: a sum that includes the free of a block includes its allocation, too (SumOnce).
void AddToRecord(const Charge& charge, const Outstanding& outstanding) {
  WindowRecord& record = g_region.windows()[charge.window & (kMaxWindows - 1)];
  record.live_bytes.fetch_add(outstanding.bytes, std::memory_order_release);
  record.live_blocks.fetch_add(outstanding.blocks, std::memory_order_release);
  AddToPhase(charge.phase, outstanding.bytes, outstanding.blocks);
}

std::uint32_t ShardCount() { return g_region.header().shard_count.load(std::memory_order_acquire); }

// The sum of all sequence numbers, which only grow. If it is odd, a hand-over is in progress.
struct Sequences {
  std::uint64_t sum = 0;
  bool is_moving = false;
};

Sequences SumSequences(std::uint32_t count) {
  Sequences result;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t sequence = g_region.shards()[i].sequence.load(std::memory_order_acquire);
    result.sum += sequence;
    result.is_moving = result.is_moving || (sequence & 1) != 0;
  }
  return result;
}

// Sums until no hand-over occurs during a sum. The result is not exact if one always does.
template <typename SumUp>
WindowSum SumUndisturbed(const SumUp& sum_up) {
  constexpr int kAttempts = 16;
  WindowSum sum;
  for (int i = 0; i < kAttempts; ++i) {
    const std::uint32_t count = ShardCount();
    const Sequences before = SumSequences(count);
    sum = sum_up(count);
    std::atomic_thread_fence(std::memory_order_acquire);
    const Sequences after = SumSequences(count);
    sum.is_exact = !before.is_moving && before.sum == after.sum && count == ShardCount();
    if (sum.is_exact) return sum;
  }
  return sum;
}

// Adds to `sum`, which has been handed over, the counts of the shards that count for what is
// summed. All frees are read before all allocations: a block that a thread allocates and frees
// meanwhile may count, but no block that stays live is missed, whichever threads have had it. The
// fence pairs with the releases in AddAsOwner and AddToRecord.
template <typename CountsForIt>
WindowSum SumOnce(WindowSum sum, std::uint32_t count, const CountsForIt& counts_for_it) {
  const auto add = [&](Outstanding (*part)(const CounterShard& shard)) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const CounterShard& shard = g_region.shards()[i];
      if (!counts_for_it(shard)) continue;
      const Outstanding outstanding = part(shard);
      sum.bytes += outstanding.bytes;
      sum.blocks += outstanding.blocks;
    }
  };
  add(Freed);
  std::atomic_thread_fence(std::memory_order_acquire);
  add(Allocated);
  return sum;
}

// Returns the entry; nothing if the table is full. Then only the count continues, up to where it
// would wrap around.
std::optional<std::uint32_t> NoteEarlierFree(const EarlierFree& freed) {
  constexpr std::uint32_t kMaxCount = 1U << 31;
  std::atomic<std::uint32_t>& count = g_region.header().earlier_free_count;
  if (count.load(std::memory_order_relaxed) >= kMaxCount) return std::nullopt;
  const std::uint32_t index = count.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxEarlierFrees) return std::nullopt;

  EarlierFree& entry = g_region.earlier_frees()[index];
  if (!MakeRoom(&entry, sizeof(entry))) {
    count.fetch_add(kMaxEarlierFrees, std::memory_order_relaxed);  // as if it were full
    return std::nullopt;
  }
  entry.stack = freed.stack;
  entry.size_bytes = freed.size_bytes;
  // The window is stored last, with release: an entry without a window is not complete yet.
  std::atomic_ref(entry.window).store(freed.window, std::memory_order_release);
  return index;
}

}  // namespace

void HandOver(CounterShard& shard, const Charge& charge) {
  const std::uint32_t sequence = shard.sequence.load(std::memory_order_relaxed);
  shard.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const Outstanding allocated = Allocated(shard);
  const Outstanding freed = Freed(shard);
  AddToRecord(ChargeOf(shard), {allocated.bytes + freed.bytes, allocated.blocks + freed.blocks});
  Store(shard.allocated_before, Load(shard.allocated));
  Store(shard.freed_here_before, Load(shard.freed_here));
  shard.window.store(charge.window, std::memory_order_relaxed);
  shard.phase.store(charge.phase, std::memory_order_relaxed);
  // Release pairs with the acquire loads in SumSequences.
  shard.sequence.store(sequence + 2, std::memory_order_release);
}

CountedFree CountFreeElsewhere(CounterShard& shard, const Charge& charge, std::uint64_t size_bytes,
                               std::uint32_t stack) {
  AddToRecord(charge, {-static_cast<std::int64_t>(size_bytes), -1});
  AddBlock(shard.freed_else, size_bytes);
  const std::uint32_t here = shard.window.load(std::memory_order_relaxed);
  if (here == charge.window) return {charge, size_bytes, std::nullopt};
  return {charge, size_bytes, NoteEarlierFree({stack, here, size_bytes})};
}

void UndoFree(CounterShard& shard, const CountedFree& counted) {
  AddToRecord(counted.charge, {static_cast<std::int64_t>(counted.size_bytes), 1});
  RemoveBlock(shard.freed_else, counted.size_bytes);
  if (!counted.earlier_free) return;
  EarlierFree& entry = g_region.earlier_frees()[*counted.earlier_free];
  std::atomic_ref(entry.window).store(0, std::memory_order_relaxed);
}

void RaisePeak(std::uint32_t window, std::uint64_t live_bytes) {
  std::atomic<std::uint64_t>& peak = g_region.windows()[window & (kMaxWindows - 1)].peak_live_bytes;
  std::uint64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < live_bytes &&
         !peak.compare_exchange_weak(seen, live_bytes, std::memory_order_relaxed)) {
  }
}

void NotePeak(CounterShard& shard) {
  shard.next_peak_check = shard.allocated.bytes.load(std::memory_order_relaxed) + kPeakStepBytes;
  // Acquire pairs with the release in SetCurrentWindow: the peak has been set to what was live when
  // the window opened.
  RaisePeak(g_region.header().current_window.load(std::memory_order_acquire),
            LiveBytes(SumTotals()));
}

WindowSum SumWindow(std::uint32_t window) {
  const WindowRecord& record = g_region.windows()[window & (kMaxWindows - 1)];
  return SumUndisturbed([&](std::uint32_t count) {
    const WindowSum handed_over{record.live_bytes.load(std::memory_order_relaxed),
                                record.live_blocks.load(std::memory_order_relaxed)};
    return SumOnce(handed_over, count, [=](const CounterShard& shard) {
      return shard.window.load(std::memory_order_relaxed) == window;
    });
  });
}

WindowSum SumPhases(std::uint32_t first, std::uint32_t end) {
  return SumUndisturbed([=](std::uint32_t count) {
    const PhaseCount handed_over = CountOf({first, end});
    return SumOnce({handed_over.bytes, handed_over.blocks}, count, [=](const CounterShard& shard) {
      const std::uint32_t phase = shard.phase.load(std::memory_order_relaxed);
      return phase >= first && phase < end;
    });
  });
}

std::uint64_t SumPooled() {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < ShardCount(); ++i) {
    bytes += g_region.shards()[i].pooled_bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

// All frees are read after all allocations: so the live amount by these totals was never more than
// at one moment in between.
Totals SumTotals() {
  Totals totals{};
  const std::uint32_t count = ShardCount();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Quantity allocated = Load(g_region.shards()[i].allocated);
    totals.allocated_bytes += allocated.bytes;
    totals.allocated_blocks += allocated.blocks;
  }
  // Acquire: no later load is executed before those above. It pairs with no store.
  std::atomic_thread_fence(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const CounterShard& shard = g_region.shards()[i];
    const Quantity freed_here = Load(shard.freed_here);
    const Quantity freed_else = Load(shard.freed_else);
    totals.freed_bytes += freed_here.bytes + freed_else.bytes;
    totals.freed_blocks += freed_here.blocks + freed_else.blocks;
    const Quantity temporary = Load(shard.temporary);
    totals.temporary_bytes += temporary.bytes;
    totals.temporary_blocks += temporary.blocks;
  }
  return totals;
}

}  // namespace leakgate::agent
