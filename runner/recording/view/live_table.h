// The blocks that are live at one moment of a recording, by address.
//
// An open hash table in one piece of memory, since each event of a recording makes one look-up. A
// block is in the slot that its address determines, or in one of the next, up to the first free
// one. Erasing a block moves later ones forwards, so there are no marks of erased blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/allocation_kind.h"
#include "runner/base/large_pages.h"

namespace leakgate {

// One live block. Its ids are those of the recording.
struct RecordedBlock {
  static constexpr std::uint64_t kMostBytes = (1ULL << 48) - 1;

  std::uint64_t address = 0;       // 0: the slot is free
  std::uint64_t allocated_ns = 0;  // since the recording began
  std::uint64_t size_bytes : 48 = 0;
  std::uint64_t thread : 16 = 0;
  std::uint64_t stack : 32 = 0;  // code that counts blocks may store a number of its own here
  std::uint64_t window : 24 = 0;
  std::uint64_t allocation_kind : 4 = 0;
  // For code that counts blocks.
  std::uint64_t is_counted : 1 = 0;
  std::uint64_t is_inside : 1 = 0;  // it was allocated in the interval
  std::uint64_t freed_in : 2 = 0;

  [[nodiscard]] AllocationKind Kind() const { return static_cast<AllocationKind>(allocation_kind); }
};
static_assert(sizeof(RecordedBlock) == 32);

class LiveTable {
 public:
  LiveTable() : slots_(kFirstSlots) {}

  // Returns the block at `address`, or nullptr. It is valid until the next change.
  [[nodiscard]] RecordedBlock* Find(std::uint64_t address) {
    for (std::size_t slot = SlotOf(address);; slot = Next(slot)) {
      if (slots_[slot].address == address) return &slots_[slot];
      if (slots_[slot].address == 0) return nullptr;
    }
  }

  // REQUIRES: no block is at this address, which is not 0.
  void Insert(const RecordedBlock& block) {
    if (4 * (count_ + 1) > 3 * slots_.size()) Grow();
    Put(block);
    ++count_;
  }

  // REQUIRES: `block` is what Find returned.
  void Erase(RecordedBlock* block) {
    std::size_t hole = static_cast<std::size_t>(block - slots_.data());
    for (std::size_t slot = Next(hole); slots_[slot].address != 0; slot = Next(slot)) {
      // A block may move into the hole unless that lies in front of its own first slot.
      const std::size_t home = SlotOf(slots_[slot].address);
      if (((slot - home) & Mask()) < ((slot - hole) & Mask())) continue;
      slots_[hole] = slots_[slot];
      hole = slot;
    }
    slots_[hole] = {};
    --count_;
  }

  // Begins to load the memory that Find will read.
  void Prefetch(std::uint64_t address) const { __builtin_prefetch(&slots_[SlotOf(address)], 1); }

  [[nodiscard]] std::size_t size() const { return count_; }

  // Calls `use` with each block, in no particular order. `use` may change the members that are
  // meant for counting.
  template <typename Use>
  void ForEach(const Use& use) {
    for (RecordedBlock& block : slots_) {
      if (block.address != 0) use(block);
    }
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two, as later sizes

  [[nodiscard]] std::size_t Mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t Next(std::size_t slot) const { return (slot + 1) & Mask(); }
  [[nodiscard]] std::size_t SlotOf(std::uint64_t address) const {
    return static_cast<std::size_t>(((address >> 4) * 0x9E37'79B9'7F4A'7C15ULL) >> 20) & Mask();
  }

  void Put(const RecordedBlock& block) {
    std::size_t slot = SlotOf(block.address);
    while (slots_[slot].address != 0) slot = Next(slot);
    slots_[slot] = block;
  }

  void Grow() {
    std::vector<RecordedBlock> old;
    old.reserve(2 * slots_.size());
    PreferLargePages(old.data(), old.capacity() * sizeof(RecordedBlock));
    old.resize(2 * slots_.size());
    std::swap(old, slots_);
    for (const RecordedBlock& block : old) {
      if (block.address != 0) Put(block);
    }
  }

  std::vector<RecordedBlock> slots_;
  std::size_t count_ = 0;
};

}  // namespace leakgate
