// Finds out for each free of a recording which allocation it ends.
//
// Events are ordered by time, accurate to about a microsecond. So if a block changes hands, its
// free may come before its allocation, or after the next allocation at its address. The n-th free
// at an address belongs to the n-th allocation there:
//
//   events          meaning
//   A1 F1           A1 lived until F1
//   F1 A1           A1 lived for no time
//   A1 A2 F1 F2     A1 lived until A2, which lived until F2
//
// A free that comes long after the second allocation belongs to that one. A free whose allocation
// does not come for a long time belongs to an unknown block: one from before the recording, or one
// whose event was lost.
//
// The sink has these functions:
//
//   void WasLive(RecordedBlock& block)          it was live when the recording began
//   void Allocated(RecordedBlock& block)
//   void IsLive(const RecordedBlock& block)     after Allocated, unless its free came before
//   void Freed(RecordedBlock& block, const BlockEnd& end)
//   void FreedEarlier(const RecordedBlock& block, const BlockEnd& end)
//                                               the free of a block for which Freed was called
//                                               when the next one was allocated at its address;
//                                               that call knew only the time
//   void Restored(RecordedBlock& block, const BlockEnd& end)   Freed did not happen after all
//
// A sink may change those members of a non-const block that are meant for counting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/live_table.h"
#include "runner/recording/view/recent_by_address.h"
#include "runner/region/region_copies.h"

namespace leakgate {

struct BlockEnd {
  std::uint64_t time_ns = 0;
  std::uint32_t stack = 0;  // of the free; 0: not recorded
  // Freed by the thread that allocated it, with no other allocation of that thread in between.
  bool was_temporary = false;
};

template <typename Sink>
class BlockLives {
 public:
  explicit BlockLives(Sink& sink) : sink_(sink) {}

  void Add(const LiveBlock& block) {
    if (block.address == 0 || live_.Find(block.address) != nullptr) return;
    RecordedBlock known = Make(block.address, block.size_bytes, block.kind);
    known.thread = block.thread & 0xFFFF;
    known.stack = block.stack;
    known.window = block.window & 0xFF'FFFF;
    sink_.WasLive(known);
    live_.Insert(known);
  }

  // Handles events of the kinds kAllocate, kFree and kRestore.
  void Allocate(const RecordedEvent& event) {
    if (event.address == 0) return;
    if (!overtaken_.empty()) [[unlikely]]
      ForgetOld(event.time_ns);
    if (RecordedBlock* const before = live_.Find(event.address)) [[unlikely]]
      Overtake(*before, event);
    RecordedBlock block = Make(event.address, event.size_bytes, event.allocation_kind);
    block.allocated_ns = event.time_ns;
    block.thread = event.thread & 0xFFFF;
    block.stack = event.stack;
    block.window = event.window & 0xFF'FFFF;
    ThreadOf(event.thread).last_allocation = event.address;
    sink_.Allocated(block);
    if (!early_.empty()) [[unlikely]] {
      ForgetOld(event.time_ns);
      if (const auto end = early_.TakeOldest(event.address)) {
        sink_.Freed(block, {.time_ns = event.time_ns, .stack = end->stack});
        return;
      }
    }
    sink_.IsLive(block);
    live_.Insert(block);
  }

  void Free(const RecordedEvent& event) {
    if (event.address == 0) return;
    if (!overtaken_.empty()) [[unlikely]] {
      ForgetOld(event.time_ns);
      if (const auto block = overtaken_.TakeOldest(event.address)) {
        sink_.FreedEarlier(*block, EndBy(*block, event));
        return;
      }
    }
    RecordedBlock* const block = live_.Find(event.address);
    Thread& thread = ThreadOf(event.thread);
    if (block == nullptr) [[unlikely]] {
      thread.last_freed = {};
      thread.last_freed.address = event.address;
      thread.last_freed_was_live = false;
      if (allocations_are_over_) return;
      early_.Add(event.address, event.time_ns, {.time_ns = event.time_ns, .stack = event.stack});
      ForgetOld(event.time_ns);
      return;
    }
    const BlockEnd end = EndBy(*block, event);
    sink_.Freed(*block, end);
    thread.last_freed = *block;
    thread.last_freed_was_live = true;
    thread.last_end = end;
    live_.Erase(block);
  }

  // The thread's last free did not happen after all.
  void Restore(const RecordedEvent& event) {
    Thread& thread = ThreadOf(event.thread);
    if (event.address == 0 || thread.last_freed.address != event.address ||
        live_.Find(event.address) != nullptr) {
      return;
    }
    if (thread.last_freed_was_live) {
      sink_.Restored(thread.last_freed, thread.last_end);
      live_.Insert(thread.last_freed);
    } else {
      (void)early_.TakeNewest(event.address);
    }
    thread.last_freed = {};
  }

  // Events have been lost: from now on, a free and an allocation count as swapped only if they are
  // close together.
  void SetLossy() { tolerance_ns_ = kToleranceWithLossNs; }

  // From now on, frees are ignored unless they belong to live blocks.
  void EndAllocations() { allocations_are_over_ = true; }

  void Prefetch(const RecordedEvent& event) const { live_.Prefetch(event.address); }

  [[nodiscard]] LiveTable& live() { return live_; }
  // Returns how many frees belonged to unknown blocks, so far.
  [[nodiscard]] std::uint64_t unknown_frees() const { return unknown_frees_; }

 private:
  static constexpr std::uint64_t kToleranceNs = 1'000'000;
  static constexpr std::uint64_t kToleranceWithLossNs = 5'000;

  struct Thread {
    std::uint64_t last_allocation = 0;  // its address
    RecordedBlock last_freed;           // only the address if it was not live
    BlockEnd last_end;
    bool last_freed_was_live = false;
  };

  static RecordedBlock Make(std::uint64_t address, std::uint64_t bytes, AllocationKind kind) {
    RecordedBlock block;
    block.address = address;
    block.size_bytes = std::min(bytes, RecordedBlock::kMostBytes) & RecordedBlock::kMostBytes;
    block.allocation_kind = static_cast<std::uint64_t>(kind) & 0xF;
    return block;
  }

  Thread& ThreadOf(std::uint32_t thread) {
    thread &= 0xFFFF;
    if (thread >= threads_.size()) [[unlikely]]
      threads_.resize(std::size_t{thread} + 1);
    return threads_[thread];
  }

  BlockEnd EndBy(const RecordedBlock& block, const RecordedEvent& free) {
    return {.time_ns = free.time_ns,
            .stack = free.stack,
            .was_temporary = block.thread == (free.thread & 0xFFFF) &&
                             ThreadOf(free.thread).last_allocation == block.address};
  }

  void Overtake(RecordedBlock& before, const RecordedEvent& next) {
    sink_.Freed(before, {.time_ns = next.time_ns});
    overtaken_.Add(before.address, next.time_ns, before);
    live_.Erase(&before);
  }

  void ForgetOld(std::uint64_t now_ns) {
    const std::uint64_t since = now_ns - std::min(now_ns, tolerance_ns_);
    (void)overtaken_.ForgetBefore(since);
    unknown_frees_ += early_.ForgetBefore(since);
  }

  Sink& sink_;
  LiveTable live_;
  std::vector<Thread> threads_;
  // Blocks that the next one at the address has followed, and that have not been freed yet.
  RecentByAddress<RecordedBlock> overtaken_;
  RecentByAddress<BlockEnd> early_;  // frees whose allocation has not come yet
  std::uint64_t tolerance_ns_ = kToleranceNs;
  std::uint64_t unknown_frees_ = 0;
  bool allocations_are_over_ = false;
};

}  // namespace leakgate
