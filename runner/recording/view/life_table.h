// Blocks that were allocated by the same stack in the same bin of time, freed in the same bin, and
// lived about as long. A hash table in one piece of memory. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runner/recording/view/recorded_counts.h"

namespace leakgate {

struct LifeKey {
  static constexpr std::size_t kBefore = 0x3FFF;  // allocated before the interval
  static constexpr std::size_t kAfter = 0x3FFE;   // freed after it
  static constexpr std::size_t kNever = 0x3FFF;   // not freed
  static constexpr std::size_t kMostBins = 0x3FFE;

  std::uint32_t stack = 0;
  std::size_t allocated_bin = 0;
  std::size_t freed_bin = 0;
  std::size_t decade = 0;  // of the lifetime (LifetimeDecades); 0 where it has not ended

  friend bool operator==(const LifeKey&, const LifeKey&) = default;
};

struct Life {
  LifeKey key;
  RecordedSum sum{};
  RecordedSum temporary{};  // of the sum: see BlockEnd
};

class LifeTable {
 public:
  struct Sums {
    RecordedSum sum{};
    RecordedSum temporary{};
  };

  LifeTable() : slots_(kFirstSlots) {}

  // Returns the sums of `key`. They are valid until the next call.
  Sums& At(const LifeKey& key) {
    const std::uint64_t packed = Pack(key);
    std::size_t slot = HomeOf(packed);
    for (; slots_[slot].packed != 0; slot = (slot + 1) & Mask()) {
      if (slots_[slot].packed == packed) return slots_[slot].sums;
    }
    if (4 * (used_ + 1) > 3 * slots_.size()) {
      Rebuild(2 * slots_.size(), [](const LifeKey& same) { return same; });
      for (slot = HomeOf(packed); slots_[slot].packed != 0; slot = (slot + 1) & Mask()) {
      }
    }
    ++used_;
    slots_[slot].packed = packed;
    return slots_[slot].sums;
  }

  [[nodiscard]] std::size_t size() const { return used_; }

  // Replaces the keys of all entries by what `change` makes of them, and adds up entries with equal
  // keys.
  template <typename Change>
  void Rekey(const Change& change) {
    Rebuild(slots_.size(), change);
  }

  // Calls `use` with each key and its sums, in no particular order.
  template <typename Use>
  void ForEach(const Use& use) const {
    for (const Slot& slot : slots_) {
      if (slot.packed != 0) use(Unpack(slot.packed), slot.sums);
    }
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;  // a power of two, as later sizes

  struct Slot {
    std::uint64_t packed = 0;  // 0: the slot is free
    Sums sums{};
  };

  static std::uint64_t Pack(const LifeKey& key) {
    return (std::uint64_t{key.stack} + 1) << 32 | std::uint64_t{key.allocated_bin} << 18 |
           std::uint64_t{key.freed_bin} << 4 | key.decade;
  }
  static LifeKey Unpack(std::uint64_t packed) {
    return {.stack = static_cast<std::uint32_t>((packed >> 32) - 1),
            .allocated_bin = static_cast<std::size_t>(packed >> 18 & 0x3FFF),
            .freed_bin = static_cast<std::size_t>(packed >> 4 & 0x3FFF),
            .decade = static_cast<std::size_t>(packed & 0xF)};
  }

  [[nodiscard]] std::size_t Mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t HomeOf(std::uint64_t packed) const {
    return static_cast<std::size_t>((packed * 0x9E37'79B9'7F4A'7C15ULL) >> 24) & Mask();
  }

  template <typename Change>
  void Rebuild(std::size_t size, const Change& change) {
    std::vector<Slot> old(size);
    std::swap(old, slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.packed == 0) continue;
      Sums& sums = At(change(Unpack(slot.packed)));
      sums.sum += slot.sums.sum;
      sums.temporary += slot.sums.temporary;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace leakgate
