#include "plugin/agent/counters.h"

namespace leakgate::agent {
namespace {

// A counter with one writer: no locked instruction. Relaxed: whoever sums
// orders itself by the shard's sequence.
template <typename T>
void Add(std::atomic<T>& counter, T amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

void AddToRecord(std::uint32_t window, std::int64_t bytes, std::int64_t blocks) {
  WindowRecord& record = g_region.windows()[window & (kMaxWindows - 1)];
  record.live_bytes.fetch_add(bytes, std::memory_order_relaxed);
  record.live_blocks.fetch_add(blocks, std::memory_order_relaxed);
}

void HandOver(CounterShard& shard, std::uint32_t window) {
  const std::uint32_t sequence = shard.sequence.load(std::memory_order_relaxed);
  shard.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  AddToRecord(shard.window.load(std::memory_order_relaxed),
              shard.window_bytes.load(std::memory_order_relaxed),
              shard.window_blocks.load(std::memory_order_relaxed));
  shard.window_bytes.store(0, std::memory_order_relaxed);
  shard.window_blocks.store(0, std::memory_order_relaxed);
  shard.window.store(window, std::memory_order_relaxed);
  // Release pairs with the acquire loads in SumSequences.
  shard.sequence.store(sequence + 2, std::memory_order_release);
}

std::uint32_t ShardCount() { return g_region.header().shard_count.load(std::memory_order_acquire); }

// The sum of all sequence numbers, which only grow; odd: a hand-over is under way.
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

WindowSum SumOnce(std::uint32_t window, std::uint32_t count) {
  const WindowRecord& record = g_region.windows()[window & (kMaxWindows - 1)];
  WindowSum sum{record.live_bytes.load(std::memory_order_relaxed),
                record.live_blocks.load(std::memory_order_relaxed), true};
  for (std::uint32_t i = 0; i < count; ++i) {
    const CounterShard& shard = g_region.shards()[i];
    if (shard.window.load(std::memory_order_relaxed) != window) continue;
    sum.bytes += shard.window_bytes.load(std::memory_order_relaxed);
    sum.blocks += shard.window_blocks.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace

void CountAllocation(CounterShard& shard, std::uint32_t window, std::uint64_t size_bytes) {
  if (shard.window.load(std::memory_order_relaxed) != window) HandOver(shard, window);
  Add(shard.window_bytes, static_cast<std::int64_t>(size_bytes));
  Add(shard.window_blocks, std::int64_t{1});
  Add(shard.allocated_bytes, size_bytes);
  Add(shard.allocated_blocks, std::uint64_t{1});
}

void CountFree(CounterShard& shard, std::uint32_t window, std::uint64_t size_bytes) {
  if (shard.window.load(std::memory_order_relaxed) == window) {
    Add(shard.window_bytes, -static_cast<std::int64_t>(size_bytes));
    Add(shard.window_blocks, std::int64_t{-1});
  } else {
    AddToRecord(window, -static_cast<std::int64_t>(size_bytes), -1);
  }
  Add(shard.freed_bytes, size_bytes);
  Add(shard.freed_blocks, std::uint64_t{1});
}

WindowSum SumWindow(std::uint32_t window) {
  constexpr int kAttempts = 16;
  WindowSum sum;
  for (int i = 0; i < kAttempts; ++i) {
    const std::uint32_t count = ShardCount();
    const Sequences before = SumSequences(count);
    sum = SumOnce(window, count);
    std::atomic_thread_fence(std::memory_order_acquire);
    const Sequences after = SumSequences(count);
    sum.is_exact = !before.is_moving && before.sum == after.sum && count == ShardCount();
    if (sum.is_exact) return sum;
  }
  return sum;
}

Totals SumTotals() {
  Totals totals{};
  const std::uint32_t count = ShardCount();
  for (std::uint32_t i = 0; i < count; ++i) {
    const CounterShard& shard = g_region.shards()[i];
    totals.allocated_bytes += shard.allocated_bytes.load(std::memory_order_relaxed);
    totals.allocated_blocks += shard.allocated_blocks.load(std::memory_order_relaxed);
    totals.freed_bytes += shard.freed_bytes.load(std::memory_order_relaxed);
    totals.freed_blocks += shard.freed_blocks.load(std::memory_order_relaxed);
  }
  return totals;
}

}  // namespace leakgate::agent
