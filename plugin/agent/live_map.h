// The live allocations of the test process, by address: no hash, no lock.
//
//   address -> chunk (>> 26, through the directory) -> word (>> 4 within it)
//
// The words are in the region, so the runner can read them while the process
// runs and after it has died; how one block is written is in
// common/live_slot.h. Lock-free but for the first block in a new chunk: an
// address has one owner until it is freed, so its slot has one writer. Never
// allocates. When no slot can be had, that is counted as a drop here.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/live_slot.h"
#include "plugin/agent/region.h"
#include "plugin/agent/spin_lock.h"
#include "plugin/agent/visibility.h"

namespace leakgate::agent {

// A block's two words as they are in the map. Not live: no start bit.
struct LiveWords {
  std::uint64_t start = 0;
  std::uint64_t rest = 0;

  bool IsLive() const { return IsLiveStart(start); }
};

class LiveMap {
 public:
  using Slot = std::atomic<std::uint64_t>*;

  // `first_chunk` is the mapping of the region's chunk 0.
  void Start(void* first_chunk);

  // Where a block at `address` is written, or nullptr, with a drop, if it
  // cannot be.
  Slot SlotFor(std::uint64_t address) {
    const Slot slot = Find(address);
    return __builtin_expect(slot != nullptr, 1) ? slot : SlotInNewChunk(address);
  }

  // The same for an address that may be in no chunk yet; nullptr then.
  static Slot Find(std::uint64_t address) {
    constexpr std::uint64_t kForbidden = ~((1ULL << kAddressBits) - 1) | kGranuleMask;
    if (__builtin_expect((address & kForbidden) != 0, 0)) return nullptr;
    // Acquire pairs with the release in MapChunk.
    const Slot chunk = chunks_[address >> kChunkShift].load(std::memory_order_acquire);
    if (__builtin_expect(chunk == nullptr, 0)) return nullptr;
    return chunk + ((address >> kGranuleShift) & (kChunkWords - 1));
  }

  static bool IsLiveAt(Slot slot) { return IsLiveStart(slot[0].load(std::memory_order_relaxed)); }

  static LiveWords Read(Slot slot) {
    return {slot[0].load(std::memory_order_relaxed), slot[1].load(std::memory_order_relaxed)};
  }

  // Release: a reader that sees the start word sees the rest, and the stack.
  static void Write(Slot slot, const LiveWords& words) {
    slot[1].store(words.rest, std::memory_order_relaxed);
    slot[0].store(words.start, std::memory_order_release);
  }

  static void Clear(Slot slot) {
    slot[0].store(0, std::memory_order_release);
    slot[1].store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kGranuleMask = (1ULL << kGranuleShift) - 1;

  Slot SlotInNewChunk(std::uint64_t address);
  Slot MapChunk(std::uint64_t directory_index);

  // Where this process has mapped each chunk, by the directory's index. Sparse.
  static std::atomic<Slot> chunks_[kDirectoryEntries];

  SpinLock lock_;
  Slot last_chunk_ = nullptr;  // the chunk mapped last
};

extern LEAKGATE_INTERNAL LiveMap g_live_map;

}  // namespace leakgate::agent
