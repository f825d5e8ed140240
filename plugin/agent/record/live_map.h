// The live allocations of the test process, by address: no hash, no lock.
//
//   address -> chunk (>> kChunkShift, through the directory) -> word (>> 4 within it)
//
// The words are in the region, so the runner can read them while the process
// runs and after it has died. common/live_slot.h says how one block is written.
//
// There is no lock except for the first block in a new chunk. An address has one owner until it is
// freed, so its slot has one writer. That thread reads what it wrote itself, or what the allocator
// has passed on to it in order, and needs no acquire. Nothing here allocates. If there is no slot,
// a drop is counted here.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/live_slot.h"
#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/record/free_errors.h"

#include LEAKGATE_ARCH(memory)
#include LEAKGATE_AGENT(chunk_places)

namespace leakgate::agent {

// A block as it is in the map.
struct LiveRecord {
  std::uint64_t size_bytes = 0;
  std::uint32_t stack = 0;
  std::uint32_t context = 0;
  AllocationKind kind{};
};

class LiveMap {
 public:
  using Slot = std::atomic<std::uint32_t>*;

  // Maps the region's chunk 0, in the place of an earlier region's if there was one, and forgets
  // what was in that. Returns false if it cannot. REQUIRES: the region is mapped; no thread
  // records.
  [[nodiscard]] bool Start(int region_fd);

  // Frees the chunks' memory, and keeps their addresses for the chunks of the next region.
  // REQUIRES: no thread records.
  void ParkChunks();
  // For a fork child, which has not inherited its parent's chunks.
  void ForgetChunks();

  // Returns where a block at `address` is to be written. Counts a drop and returns nullptr if it
  // cannot be written.
  Slot SlotFor(std::uint64_t address);

  // Does the same for an address that may be in no chunk yet, or may not be a block's. Returns
  // nullptr then, and for an address that is not aligned.
  static Slot Find(std::uint64_t address) {
    return (address & kGranuleMask) != 0 ? nullptr : FindAligned(address);
  }

  // REQUIRES: the address is aligned, or it is passed to a function that frees, which will refuse
  // it.
  static Slot FindAligned(std::uint64_t address) {
    const std::uint64_t index = WithoutTag(address) >> kChunkShift;
    if (__builtin_expect(index >= kDirectoryEntries, 0)) return nullptr;
    // Acquire pairs with the release in MapChunk.
    const Slot chunk = chunks_.At(index);
    if (__builtin_expect(chunk == nullptr, 0)) return nullptr;
    return chunk + WordOf(address);
  }

  // Returns where the live block begins that has `address`; 0 if there is none, or if it begins
  // farther in front of the address.
  static std::uint64_t FindBegin(std::uint64_t address, std::uint64_t farthest);

  // For a block that the C library's malloc has returned, which lies within the map. Returns
  // nullptr for nullptr.
  static Slot SlotOfBlock(const void* block) {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    if (__builtin_expect(address == 0, 0)) return nullptr;
    const Slot chunk = chunks_.At(WithoutTag(address) >> kChunkShift);
    if (__builtin_expect(chunk == nullptr, 0)) return nullptr;
    return chunk + WordOf(address);
  }

  static bool IsLiveAt(Slot slot) { return IsLiveStart(slot[0].load(std::memory_order_relaxed)); }

  // Does the same for a block of one of `kinds`. It costs no more, since the kinds are neighbours.
  static bool IsLiveAt(Slot slot, const KindRange& kinds) {
    const std::uint32_t first = Encode(LiveStart{0, kinds.first});
    const std::uint32_t last = Encode(LiveStart{(1U << kStackBits) - 1, kinds.last});
    return slot[0].load(std::memory_order_relaxed) - first <= last - first;
  }
  // Returns whether a block was recorded here and has been freed since. This is a hint: the slot's
  // words may belong to another block by now.
  static bool WasLiveAt(Slot slot) {
    const std::uint32_t rest = slot[1].load(std::memory_order_relaxed);
    return slot[0].load(std::memory_order_relaxed) == 0 && !IsLiveStart(rest) &&
           DecodeRest(rest).context != 0;
  }
  // Returns whether pools have had blocks in the live block (pools.h).
  static bool IsChunkAt(Slot slot) {
    const std::uint32_t start = slot[0].load(std::memory_order_relaxed);
    return IsLiveStart(start) && IsChunkKind(DecodeStart(start).kind);
  }
  // Corrects the kind of a block. REQUIRES: IsLiveAt(slot).
  static void SetKind(Slot slot, AllocationKind kind) {
    const LiveStart start = DecodeStart(slot[0].load(std::memory_order_relaxed));
    slot[0].store(Encode(LiveStart{start.stack, kind}), std::memory_order_release);
  }

  // Sets the context of a block. REQUIRES: IsLiveAt(slot).
  static void SetContext(Slot slot, std::uint32_t context) {
    slot[1].store(Encode(LiveRest{RestAt(slot).short_size, context}), std::memory_order_release);
  }

  // These three REQUIRE IsLiveAt(slot).
  static LiveRecord Read(Slot slot) {
    const LiveStart start = DecodeStart(slot[0].load(std::memory_order_relaxed));
    const LiveRest rest = RestAt(slot);
    return {SizeAt(slot, rest), start.stack, rest.context, WithoutChunk(start.kind)};
  }
  static LiveRest RestAt(Slot slot) { return DecodeRest(slot[1].load(std::memory_order_relaxed)); }
  static std::uint64_t SizeAt(Slot slot, const LiveRest& rest) {
    if (__builtin_expect(rest.short_size != kSizeFollows, 1)) return rest.short_size;
    return DecodeSize(slot[2].load(std::memory_order_relaxed),
                      slot[3].load(std::memory_order_relaxed));
  }

  // The start word is stored with release: a reader that sees it sees the other words, and the
  // stack. So are the other words: a reader that sees one of them sees that the previous block is
  // gone, if it reads the start word again (tests/unit/memory_model/live_slot_test.cpp).
  static void Write(Slot slot, const LiveRecord& record) {
    std::uint32_t short_size = static_cast<std::uint32_t>(record.size_bytes);
    // What is not 0 was written, and its page noted.
    if (kNotesTouchedPages && slot[1].load(std::memory_order_relaxed) == 0) {
      g_region.NoteTouched(slot);
    }
    if (__builtin_expect(record.size_bytes >= kSizeFollows, 0)) {
      g_region.NoteTouched(slot + 3);
      slot[2].store(record.size_bytes & kSizeWordMask, std::memory_order_release);
      slot[3].store((record.size_bytes >> kSizeWordBits) & kSizeWordMask,
                    std::memory_order_release);
      short_size = kSizeFollows;
    }
    slot[1].store(Encode(LiveRest{short_size, record.context}), std::memory_order_release);
    slot[0].store(Encode(LiveStart{record.stack, record.kind}), std::memory_order_release);
  }

  // Release: a reader that sees the block gone sees what was stored about it before, such as that
  // it is being reallocated.
  static void Clear(Slot slot) { slot[0].store(0, std::memory_order_release); }
  // Does the same, and leaves no hint that there was a block. Release, as in Write.
  static void Wipe(Slot slot) {
    Clear(slot);
    slot[1].store(0, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kGranuleMask = (1ULL << kGranuleShift) - 1;

  // Returns where the words of a block at `address` are in its chunk.
  static std::uint64_t WordOf(std::uint64_t address) {
    constexpr std::uint64_t kGranulesOfChunk = 1ULL << (kChunkShift - kGranuleShift);
    return ((address >> kGranuleShift) & (kGranulesOfChunk - 1)) * kWordsPerGranule;
  }

  Slot MapChunk(std::uint64_t directory_index);

  // Where this process has mapped each chunk, by the directory's index.
  static ChunkPlaces chunks_;
  // The same by the chunk's number, of this region or an earlier one.
  static Slot places_[kMaxChunks];

  SpinLock lock_;
  Slot last_chunk_ = nullptr;  // the chunk mapped last
  std::uint32_t mapped_count_ = 0;
};

extern LEAKGATE_INTERNAL LiveMap g_live_map;

}  // namespace leakgate::agent
