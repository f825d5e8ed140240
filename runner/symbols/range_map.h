// Values of ranges of addresses. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace leakgate {

// Finds the value of the range that an address is in. A map is filled once, sealed, and then read.
//
// Ranges may nest or overlap (aliases, broken debug information): of those that have the address,
// the one that begins last is found.
template <typename Value>
class RangeMap {
 public:
  void Add(std::uint64_t begin, std::uint64_t end, Value value) {
    if (begin < end) ranges_.push_back({begin, end, std::move(value)});
  }

  // Of ranges that begin at the same address, the one that was added last is found.
  void Seal() {
    std::stable_sort(ranges_.begin(), ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  // Returns null if no range has `address`. REQUIRES: Seal() has been called.
  [[nodiscard]] const Value* Find(std::uint64_t address) const {
    auto range = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](std::uint64_t wanted, const Range& candidate) { return wanted < candidate.begin; });
    for (std::size_t step = 0; range != ranges_.begin() && step < kMostNested; ++step) {
      --range;
      if (address < range->end) return &range->value;
    }
    return nullptr;
  }

 private:
  // The search gives up after so many ranges that begin before the address and end before it, too.
  static constexpr std::size_t kMostNested = 64;

  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    Value value;
  };

  std::vector<Range> ranges_;
};

}  // namespace leakgate
