// How long blocks lived: a histogram for each stack, fine enough to find medians, and one of all.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "runner/recording/view/recorded_counts.h"

namespace leakgate {

// A class of lifetimes. Four of them are between each power of two and the next one.
using LifetimeClass = std::uint32_t;

[[nodiscard]] constexpr LifetimeClass LifetimeClassOf(std::uint64_t ns) {
  if (ns < 4) return static_cast<LifetimeClass>(ns);
  const int exponent = static_cast<int>(std::bit_width(ns)) - 1;
  return static_cast<LifetimeClass>(4 * (exponent - 1)) +
         static_cast<LifetimeClass>((ns >> (exponent - 2)) & 3);
}
// Returns the shortest lifetime of a class.
[[nodiscard]] constexpr std::uint64_t ShortestOf(LifetimeClass it) {
  if (it < 4) return it;
  return std::uint64_t{4 + it % 4} << (it / 4 - 1);
}
inline constexpr LifetimeClass kLifetimeClasses = LifetimeClassOf(UINT64_MAX) + 1;

// The number of blocks of each class.
using LifetimeCounts = std::map<LifetimeClass, std::uint64_t>;

// Returns about the median of the lifetimes, which is right to an eighth; 0 for none.
[[nodiscard]] std::uint64_t MedianOf(const LifetimeCounts& counts);

// Counts blocks by stack and class. It takes memory only for the pairs that occur.
class LifetimesByStack {
 public:
  LifetimesByStack() : slots_(1024) {}

  // `stack` is any number below 2^32 that stands for a stack.
  void Add(std::uint32_t stack, std::uint64_t ns) { ++SlotOf(stack, LifetimeClassOf(ns)).count; }
  // REQUIRES: the same has been added.
  void Remove(std::uint32_t stack, std::uint64_t ns) { --SlotOf(stack, LifetimeClassOf(ns)).count; }

  // Adds all counts to those of `by_group[group_of[stack]]`. Stacks with no group are left out.
  void AddTo(const std::vector<std::uint32_t>& group_of,
             std::vector<LifetimeCounts>& by_group) const;

 private:
  struct Slot {
    std::uint64_t key = 0;  // of stack and class, plus 1; 0: free
    std::uint64_t count = 0;
  };

  Slot& SlotOf(std::uint32_t stack, LifetimeClass lifetime) {
    const std::uint64_t key = (std::uint64_t{stack} << 8 | lifetime) + 1;
    for (std::size_t at = HomeOf(key);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key == key) return slots_[at];
      if (slots_[at].key == 0) return Claim(at, key);
    }
  }
  [[nodiscard]] std::size_t HomeOf(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> 20) & (slots_.size() - 1);
  }
  Slot& Claim(std::size_t at, std::uint64_t key);

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};
static_assert(kLifetimeClasses <= 256);

// Lifetimes by powers of ten: class 0 is below 1 us, class 1 below 10 us, and so on.
class LifetimeDecades {
 public:
  static constexpr std::size_t kDecades = 12;

  [[nodiscard]] static std::size_t DecadeOf(std::uint64_t ns) {
    std::size_t decade = 0;
    for (std::uint64_t limit = 1000; ns >= limit && decade + 1 < kDecades; limit *= 10) ++decade;
    return decade;
  }
  void Add(std::uint64_t ns, std::uint64_t bytes) { decades_[DecadeOf(ns)].Add(bytes); }
  void Remove(std::uint64_t ns, std::uint64_t bytes) { decades_[DecadeOf(ns)].Remove(bytes); }

  [[nodiscard]] const std::array<RecordedSum, kDecades>& all() const { return decades_; }

 private:
  std::array<RecordedSum, kDecades> decades_{};
};

}  // namespace leakgate
